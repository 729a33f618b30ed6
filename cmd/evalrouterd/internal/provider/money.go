package provider

import (
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Settle decides the money of an answer. reserved is the worst case that was
// set aside for it, estimate what its input can cost at most: the platform
// bears that where a provider bills and by design does not say how much.
func (o Outcome) Settle(p core.Prices, reserved, estimate usd.Micro) core.Settlement {
	switch {
	case o.Unbilled:
		return core.Settlement{}
	case o.UsageState == UsageByDesign:
		return p.SettleUnreported(reserved, estimate)
	}
	return p.Settle(reserved, o.Usage)
}
