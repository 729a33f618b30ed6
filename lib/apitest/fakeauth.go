package apitest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/evalrouter/evalrouter/lib/api"
)

// SignIn shapes how the fake signs people in. Zero values mean: whoever asks is
// let in at once, tokens last a quarter of an hour, and an old refresh token
// gives its successor for a minute.
type SignIn struct {
	Off        bool     // nobody signs in here
	Deny       bool     // the person says no
	Stages     []string // what a device is told to wait for, one a question
	SlowDowns  int      // so many questions of a device come too fast
	Expired    int      // so many device codes expire unapproved
	AccessLife time.Duration
	Grace      time.Duration
	Interval   int // seconds between two questions of a device; 1
	// Foreign makes the service name a page of somebody else.
	Foreign bool
	// Later is after how many looks somebody has a workspace.
	Later int
}

// auth is everything about sign-ins.
type auth struct {
	how        SignIn
	workspaces []api.WorkspaceRecord
	looks      int
	codes      map[string]grantCode
	devices    map[string]bool // device code to whether it expires
	sessions   map[string]session
	refresh    map[string]*pair
	rotations  int
	agents     []string // what devices were called
	onToken    func()   // before the answer of the token endpoint
}

type grantCode struct{ challenge, redirect string }

// session is an access token.
type session struct {
	family string
	ends   time.Time
}

// pair is a refresh token with what became of it.
type pair struct {
	family    string
	successor *tokenAnswer
	at        time.Time
	gone      bool
}

type tokenAnswer struct {
	AccessToken  string            `json:"access_token"`
	TokenType    string            `json:"token_type"`
	ExpiresIn    int64             `json:"expires_in"`
	RefreshToken string            `json:"refresh_token"`
	Scope        string            `json:"scope"`
	Account      api.AccountRecord `json:"account"`
}

// SignIns says how people are signed in from now on.
func (f *Fake) SignIns(how SignIn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.auth.how = how
}

// AddWorkspace gives the person one more workspace.
func (f *Fake) AddWorkspace(id, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.auth.workspaces = append(f.auth.workspaces, f.workspaceRecord(id, name))
}

// Secrets are all tokens and codes that were given out.
func (f *Fake) Secrets() (out []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range f.auth.sessions {
		out = append(out, s)
	}
	for s := range f.auth.refresh {
		out = append(out, s)
	}
	for s := range f.auth.devices {
		out = append(out, s)
	}
	return out
}

// Addresses are the requests that arrived, as they were asked for.
func (f *Fake) Addresses() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.addresses)
}

// OnToken calls fn after a request for tokens took effect and before it is
// answered. nil calls nothing.
func (f *Fake) OnToken(fn func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.auth.onToken = fn
}

// Rotations is how many refresh tokens were replaced.
func (f *Fake) Rotations() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.auth.rotations
}

// SignedIn is how many sign-ins are not revoked.
func (f *Fake) SignedIn() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	families := map[string]bool{}
	for _, p := range f.auth.refresh {
		if !p.gone {
			families[p.family] = true
		}
	}
	return len(families)
}

func (f *Fake) workspaceRecord(id, name string) api.WorkspaceRecord {
	return api.WorkspaceRecord{ID: id, Name: name, Slug: strings.ToLower(name), Role: "owner", Status: "active", CreatedAt: f.started, Features: map[string]bool{}, WebURL: f.URL}
}

func (f *Fake) person() api.AccountRecord {
	return api.AccountRecord{ID: "5b6c7d8e-0000-4000-8000-000000000001", Email: "dana@example.org", EmailVerified: true, CreatedAt: f.started}
}

// signInPages adds the routes that speak in forms and pages.
func (f *Fake) signInPages() {
	f.auth = auth{codes: map[string]grantCode{}, devices: map[string]bool{}, sessions: map[string]session{}, refresh: map[string]*pair{}, workspaces: []api.WorkspaceRecord{f.workspaceRecord(f.WorkspaceID, "Fake")}}
	f.mux.HandleFunc("GET /authorize", f.authorizePage)
	for path, fn := range map[string]func(url.Values) (any, string){"/v1/auth/device": f.beginDevice, "/v1/auth/token": f.giveToken, "/v1/auth/revoke": f.revoke} {
		f.mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			r.Body = http.MaxBytesReader(w, r.Body, 16<<10)
			formed := r.ParseForm() == nil && strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") && r.URL.RawQuery == ""
			f.mu.Lock()
			f.counts["POST "+path]++
			var out any
			refused := "invalid_request"
			if formed && r.PostForm.Get("client_id") == "evalrouter-cli" {
				out, refused = fn(r.PostForm)
			}
			lost, then := f.takeFault("POST "+path, true) != nil, f.auth.onToken
			f.mu.Unlock()
			if then != nil && path == "/v1/auth/token" {
				then()
			}
			if lost {
				panic(http.ErrAbortHandler) // net/http closes the connection
			}
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Cache-Control", "no-store")
			if refused != "" {
				w.WriteHeader(http.StatusBadRequest)
				body := map[string]string{"error": refused}
				if code, stage, ok := strings.Cut(refused, " "); ok {
					body = map[string]string{"error": code, "stage": stage, "account": f.person().Email}
				}
				out = body
			}
			_ = json.NewEncoder(w).Encode(out) // whoever left has no use for an error
		})
	}
}

func (f *Fake) authConfig(*request) (*reply, *failure) {
	page := f.URL + "/authorize"
	if f.auth.how.Foreign {
		page = "https://somebody.example/authorize"
	}
	return ok(map[string]any{"device": !f.auth.how.Off, "browser": !f.auth.how.Off, "authorize_url": page, "web_origin": f.URL, "client_id": "evalrouter-cli", "scopes": allScopes})
}

// authorizePage is a person who decides at once.
func (f *Fake) authorizePage(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	q := r.URL.Query()
	to, err := url.Parse(q.Get("redirect_uri"))
	at, bad := netip.ParseAddrPort("")
	if err == nil {
		at, bad = netip.ParseAddrPort(to.Host)
	}
	sum, short := base64.RawURLEncoding.DecodeString(q.Get("code_challenge"))
	if err != nil || bad != nil || !at.Addr().IsLoopback() || to.Scheme != "http" || q.Get("response_type") != "code" || q.Get("client_id") != "evalrouter-cli" ||
		q.Get("code_challenge_method") != "S256" || short != nil || len(sum) != sha256.Size || len(q.Get("state")) < 8 {
		http.Error(w, "this is no sign-in", http.StatusBadRequest)
		return
	}
	v := url.Values{"state": {q.Get("state")}, "iss": {f.URL}}
	if f.auth.how.Deny {
		v.Set("error", "access_denied")
	} else {
		code := "era_" + uuid.NewString()
		f.auth.codes[code] = grantCode{q.Get("code_challenge"), q.Get("redirect_uri")}
		v.Set("code", code)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+v.Encode(), http.StatusFound)
}

func (f *Fake) beginDevice(v url.Values) (any, string) {
	code := "erd_" + uuid.NewString()
	f.auth.devices[code] = f.auth.how.Expired > 0
	f.auth.how.Expired--
	f.auth.agents = append(f.auth.agents, v.Get("device_name"))
	page := f.URL + "/device"
	if f.auth.how.Foreign {
		page = "https://somebody.example/device"
	}
	return map[string]any{"device_code": code, "user_code": "KQTF-RZ7M", "verification_uri": page, "verification_uri_complete": page + "?user_code=KQTF-RZ7M", "expires_in": 600, "interval": max(1, f.auth.how.Interval)}, ""
}

func (f *Fake) giveToken(v url.Values) (any, string) {
	switch v.Get("grant_type") {
	case "authorization_code":
		c, ok := f.auth.codes[v.Get("code")]
		delete(f.auth.codes, v.Get("code"))
		sum := sha256.Sum256([]byte(v.Get("code_verifier")))
		if !ok || c.redirect != v.Get("redirect_uri") || c.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
			return nil, "invalid_grant"
		}
		return f.pair(uuid.NewString()), ""
	case "urn:ietf:params:oauth:grant-type:device_code":
		return f.pollDevice(v.Get("device_code"))
	case "refresh_token":
		return f.rotate(v.Get("refresh_token"))
	}
	return nil, "unsupported_grant_type"
}

func (f *Fake) pollDevice(code string) (any, string) {
	expires, known := f.auth.devices[code]
	how := &f.auth.how
	switch {
	case !known:
		return nil, "invalid_grant"
	case how.SlowDowns > 0:
		how.SlowDowns--
		return nil, "slow_down"
	case expires:
		delete(f.auth.devices, code)
		return nil, "expired_token"
	case how.Deny:
		return nil, "access_denied"
	case len(how.Stages) > 0:
		stage := how.Stages[0]
		how.Stages = how.Stages[1:]
		return nil, "authorization_pending " + stage
	}
	delete(f.auth.devices, code)
	return f.pair(uuid.NewString()), ""
}

// pair is a fresh pair of tokens of a family.
func (f *Fake) pair(family string) *tokenAnswer {
	life := f.auth.how.AccessLife
	if life == 0 {
		life = 15 * time.Minute
	}
	t := &tokenAnswer{AccessToken: "ers_" + uuid.NewString(), TokenType: "Bearer", ExpiresIn: int64(life / time.Second), RefreshToken: "erf_" + uuid.NewString(), Scope: strings.Join(allScopes, " "), Account: f.person()}
	f.auth.sessions[t.AccessToken] = session{family, f.now().Add(life)}
	f.auth.refresh[t.RefreshToken] = &pair{family: family}
	f.tokens[t.AccessToken] = allScopes
	return t
}

func (f *Fake) rotate(token string) (any, string) {
	p, ok := f.auth.refresh[token]
	grace := f.auth.how.Grace
	if grace == 0 {
		grace = time.Minute
	}
	switch {
	case !ok || p.gone:
		return nil, "invalid_grant"
	case p.successor == nil:
		f.auth.rotations++
		p.successor, p.at = f.pair(p.family), f.now()
	case f.now().Sub(p.at) > grace:
		f.end(p.family)
		return nil, "invalid_grant"
	}
	return p.successor, ""
}

func (f *Fake) end(family string) {
	for _, p := range f.auth.refresh {
		p.gone = p.gone || p.family == family
	}
	for token, s := range f.auth.sessions {
		if s.family == family {
			delete(f.tokens, token)
		}
	}
}

func (f *Fake) revoke(v url.Values) (any, string) {
	if p, ok := f.auth.refresh[v.Get("token")]; ok {
		f.end(p.family)
	}
	return api.OKResponse{OK: true}, ""
}

// ended says that a token is one of a session that is over.
func (f *Fake) ended(token string) bool {
	s, ok := f.auth.sessions[token]
	return ok && !f.now().Before(s.ends)
}

func (f *Fake) listWorkspaces(in *request) (*reply, *failure) {
	if f.auth.looks++; f.auth.looks <= f.auth.how.Later {
		return page(in, []api.WorkspaceRecord{})
	}
	return page(in, f.auth.workspaces)
}
