package traces

var Waterfall = waterfall
