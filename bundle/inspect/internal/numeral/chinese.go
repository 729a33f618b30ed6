package numeral

import (
	"math"
	"math/big"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// chineseDigit is the value of a Chinese digit, everyday or financial.
func chineseDigit(r rune) (int64, bool) {
	for v, forms := range [...]string{"零〇○", "一壹幺", "二贰貳两兩", "三叁參", "四肆", "五伍", "六陆陸", "七柒", "八捌", "九玖"} {
		if strings.ContainsRune(forms, r) {
			return int64(v), true
		}
	}
	return 0, false
}

// smallUnit multiplies the digit before it.
func smallUnit(r rune) int64 {
	switch r {
	case '十', '拾':
		return 10
	case '百', '佰':
		return 100
	case '千', '仟':
		return 1000
	}
	return 0
}

// largeUnit multiplies the section before it.
func largeUnit(r rune) int64 {
	switch r {
	case '万', '萬':
		return 1e4
	case '亿', '億':
		return 1e8
	case '兆':
		return 1e12
	}
	return 0
}

// tens are the characters that stand for 20, 30 and 40.
func tens(r rune) int64 {
	switch r {
	case '廿':
		return 20
	case '卅':
		return 30
	case '卌':
		return 40
	}
	return 0
}

func unit(r rune) bool { return smallUnit(r) != 0 || largeUnit(r) != 0 || tens(r) != 0 }

func looksChinese(s string) bool {
	for _, r := range str.Runes(s) {
		if r < 0x80 {
			continue
		}
		if _, ok := chineseDigit(r); ok || unit(r) || strings.ContainsRune("点點负負正", r) {
			return true
		}
	}
	return false
}

// digit is the ASCII digit of a decimal or digit character of any script, or
// of a Chinese digit.
func digit(r rune) (byte, bool) {
	if r < 0x80 {
		return byte(r), r >= '0' && r <= '9'
	}
	if d, ok := str.Of(r).Digit(); ok {
		return byte('0' + d), true
	}
	d, ok := chineseDigit(r)
	return byte('0' + d), ok
}

func chinese(s string) (float64, bool, error) {
	whole, part := s, ""
	for _, mark := range []string{"点", "點", "．", "."} {
		if before, after, ok := strings.Cut(s, mark); ok {
			whole, part = before, after
			break
		}
	}
	read := digitsOnly
	if strings.ContainsFunc(whole, unit) {
		read = withUnits
	}
	n, ok, err := read(whole)
	if !ok || err != nil {
		return 0, false, err
	}
	f, _ := new(big.Float).SetInt(n).Float64()
	if math.IsInf(f, 0) {
		return 0, false, pycompat.Raise("OverflowError", "int too large to convert to float")
	}
	fraction, base := 0.0, 0.1
	for _, r := range str.Runes(part) {
		if str.Of(r).Space() {
			continue
		}
		d, ok := digit(r)
		if !ok {
			return 0, false, nil
		}
		fraction += float64(d-'0') * base
		base /= 10
	}
	return f + fraction, true, nil
}

func digitsOnly(s string) (*big.Int, bool, error) {
	var digits []byte
	for _, r := range str.Runes(s) {
		if str.Of(r).Space() {
			continue
		}
		d, ok := digit(r)
		if !ok {
			return nil, false, nil
		}
		digits = append(digits, d)
	}
	if len(digits) == 0 {
		return new(big.Int), true, nil
	}
	n, err := number.ParseInt(string(digits))
	return n, err == nil, err
}

// withUnits adds up sections. A digit replaces the one before it, as in the
// reference, so 12万 is 20000.
func withUnits(s string) (*big.Int, bool, error) {
	total, section, last := new(big.Int), new(big.Int), int64(0)
	for _, r := range str.Runes(s) {
		if str.Of(r).Space() {
			continue
		}
		if v := tens(r); v != 0 {
			section.Add(section, big.NewInt(v))
			continue
		}
		if strings.ContainsRune("零〇○", r) {
			continue
		}
		if d, ok := digit(r); ok {
			last = int64(d - '0')
			continue
		}
		if v := smallUnit(r); v != 0 {
			section.Add(section, big.NewInt(max(last, 1)*v))
			last = 0
			continue
		}
		v := largeUnit(r)
		if v == 0 {
			return nil, false, nil
		}
		section.Add(section, big.NewInt(last))
		total.Add(total, section.Mul(section, big.NewInt(v)))
		section, last = new(big.Int), 0
	}
	section.Add(section, big.NewInt(last))
	return total.Add(total, section), true, nil
}
