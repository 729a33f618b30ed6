package core

// QuoteState is a quote with what became of it.
type QuoteState struct {
	Quote
	// Run is the run that consumed the quote, "" while it is open.
	Run RunID
}

// Admission asks to start the run of a quote.
type Admission struct {
	Scope    Scope
	Quote    QuoteID
	Name     string
	Metadata map[string]string
	// Op, Key and RequestHash identify the request: the same three again are
	// answered with the stored bytes.
	Op, Key, RequestHash string
	// RunID and TransferID are used if a run is made.
	RunID      RunID
	TransferID string
	ConsentID  string
	// Consents are what was agreed to beside the start.
	Consents []Consent
	// Practice says that the workspace has practice credit.
	Practice bool
	// Group and GroupQuote are those that the run is a member of, "" for none.
	Group      GroupID
	GroupQuote GroupQuoteID
	// Encode makes the answer's body from the new run. It must be pure: it
	// may run more than once.
	Encode func(Run, Quote) ([]byte, error)
}

// Admitted is the answer to an admission.
type Admitted struct {
	// Run is what was started: a run, or a group by its id.
	Run      RunID
	Body     []byte
	Status   int
	Replayed bool
}
