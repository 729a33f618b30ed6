package dialect

var Parse = parse
