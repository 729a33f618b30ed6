// What a person would stumble over on the page that is open, each a sentence.
// Installed once in a page: look() reads it as it stands, tabbed() what the Tab key
// went through since begin().
(() => {
  'use strict';
  const clip = (s) => s.replace(/\s+/g, ' ').trim().slice(0, 60);
  const called = (e) => e.tagName.toLowerCase() + (e.id ? '#' + e.id : '') + (typeof e.className === 'string' && e.className ? '.' + e.className.trim().replace(/\s+/g, '.') : '') + ' "' + clip(e.getAttribute('aria-label') || e.innerText || e.textContent || '') + '"';
  const drawn = (e) => {
    if (!e.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true })) return false;
    const r = e.getBoundingClientRect();
    return r.width > 1 && r.height > 1 && r.right + scrollX > 0 && r.bottom + scrollY > 0;
  };

  // Colours are read as the browser computed them, 0 to 255 with alpha.
  const colour = (text) => {
    const m = /^rgba?\(([\d.]+),? ([\d.]+),? ([\d.]+)(?:[,/ ]+([\d.]+))?\)$/.exec(text);
    if (!m) throw new Error('a colour that is not understood: ' + text);
    return [+m[1], +m[2], +m[3], m[4] === undefined ? 1 : +m[4]];
  };
  const over = (top, under) => top.slice(0, 3).map((c, i) => c * top[3] + under[i] * (1 - top[3])).concat(1);
  const light = (c) => {
    const [r, g, b] = c.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (a, b) => {
    const [x, y] = [light(a), light(b)].sort((m, n) => n - m);
    return (x + 0.05) / (y + 0.05);
  };
  const behind = (e) => {
    const layers = [];
    for (; e; e = e.parentElement) {
      const s = getComputedStyle(e);
      if (s.backgroundImage !== 'none') throw new Error('an image lies behind ' + called(e));
      layers.push(colour(s.backgroundColor));
      if (layers.at(-1)[3] === 1) break;
    }
    const base = matchMedia('(prefers-color-scheme: dark)').matches ? [18, 18, 18, 1] : [255, 255, 255, 1];
    return layers.reduceRight((under, top) => over(top, under), base);
  };
  const faded = (e) => {
    let o = 1;
    for (; e; e = e.parentElement) o *= +getComputedStyle(e).opacity;
    return o;
  };
  const controls = () => [...document.querySelectorAll('a[href],button,input,select,textarea,summary,[tabindex]')].filter((e) => e.type !== 'hidden' && !e.disabled && e.tabIndex >= 0 && (drawn(e) || e.classList.contains('skip')));
  const scrolls = (e) => /auto|scroll/.test(getComputedStyle(e).overflowX);

  const edges = (say) => {
    const wide = innerWidth;
    if (document.scrollingElement.scrollWidth > wide) say('the page is ' + document.scrollingElement.scrollWidth + ' wide');
    for (const e of document.body.querySelectorAll('*')) {
      if (!drawn(e) || e.closest('svg') !== null && e.tagName !== 'svg') continue;
      const r = e.getBoundingClientRect();
      let box = e.parentElement;
      while (box && !scrolls(box)) box = box.parentElement;
      if (!box && (r.right > wide + 1 || r.left < -1)) say('beyond the edge lies ' + called(e));
      if (scrolls(e) && e.scrollWidth > e.clientWidth + 1 && e.tabIndex < 0) say('scrolls sideways and cannot have the focus: ' + called(e));
      const s = getComputedStyle(e);
      if (/hidden|clip/.test(s.overflowX) && e.scrollWidth > e.clientWidth + 1 && !/INPUT|SELECT/.test(e.tagName)) say('cut off is ' + called(e));
    }
  };

  const texts = (say) => {
    const done = new Set();
    const hold = (e, text, what, style) => {
      const size = parseFloat(style.fontSize), bold = +style.fontWeight >= 700;
      const least = size >= 24 || size >= 18.66 && bold ? 3 : 4.5;
      const under = behind(e), c = colour(text);
      const got = ratio(over([c[0], c[1], c[2], c[3] * faded(e)], under), under);
      if (got < least) say('contrast ' + got.toFixed(2) + ' of ' + what + ' ' + called(e));
    };
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const e = walk.currentNode.parentElement;
      if (done.has(e) || !walk.currentNode.data.trim() || /^(SCRIPT|STYLE|NOSCRIPT|OPTION|TITLE)$/i.test(e.tagName) || !drawn(e)) continue;
      done.add(e);
      const s = getComputedStyle(e);
      hold(e, e.closest('svg') ? s.fill : s.color, 'text', s);
      if (parseFloat(s.fontSize) < 12) say('smaller than 12 px is ' + called(e));
    }
    for (const e of document.body.querySelectorAll('*')) {
      if (!drawn(e)) continue;
      for (const pseudo of ['::before', '::after']) {
        const s = getComputedStyle(e, pseudo);
        if (/"[^"]*[\p{L}\p{N}][^"]*"/u.test(s.content)) hold(e, s.color, pseudo + ' of', s);
      }
      if (/^(INPUT|SELECT|TEXTAREA)$/.test(e.tagName) && !/checkbox|radio|hidden/.test(e.type)) {
        const s = getComputedStyle(e);
        hold(e, s.color, 'what is typed into', s);
        if (e.placeholder) hold(e, getComputedStyle(e, '::placeholder').color, 'the placeholder of', s);
        const under = behind(e.parentElement);
        if (ratio(over(colour(s.borderTopColor), under), under) < 3 && ratio(behind(e), under) < 3) say('no edge is seen of ' + called(e));
      }
    }
  };

  const names = (say) => {
    const heads = [...document.querySelectorAll('h1')].filter(drawn);
    if (heads.length !== 1) say(heads.length + ' first headings');
    if (!document.title.trim() || !document.documentElement.lang) say('no title, or no language');
    const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
    for (const id of new Set(ids.filter((v, i) => ids.indexOf(v) !== i))) say('two elements are #' + id);
    for (const e of document.querySelectorAll('input,select,textarea')) {
      if (e.type === 'hidden') continue;
      const by = (e.getAttribute('aria-labelledby') || '').split(' ').map((id) => document.getElementById(id)?.innerText || '').join('');
      if (!(e.getAttribute('aria-label') || by || [...(e.labels || [])].map((l) => l.innerText).join('')).trim()) say('no label has ' + called(e));
    }
    for (const e of document.querySelectorAll('a[href],button,summary')) {
      if (!(e.getAttribute('aria-label') || e.textContent).trim()) say('no name has ' + called(e));
    }
    for (const e of document.querySelectorAll('img:not([alt]),svg[role=img]:not([aria-label])')) say('no words for ' + called(e));
    for (const e of document.querySelectorAll('[tabindex]')) if (e.tabIndex > 0) say('the order of the keyboard is changed by ' + called(e));
  };

  // Where a finger has to hit: what stands in a sentence is as high as its line.
  const targets = (say) => {
    for (const e of controls()) {
      if (!/^(BUTTON|INPUT|SELECT|SUMMARY|TEXTAREA)$/.test(e.tagName) && !e.closest('nav')) continue;
      const r = (/checkbox|radio/.test(e.type) && e.closest('label') || e).getBoundingClientRect();
      if (r.width < 24 || r.height < 24) say('smaller than 24 px is ' + called(e));
    }
  };

  const ring = (e) => {
    const s = getComputedStyle(e), r = e.getBoundingClientRect();
    if (s.outlineStyle === 'none' || parseFloat(s.outlineWidth) < 2) return 'the focus cannot be seen on ' + called(e);
    if (r.right <= 0 || r.left >= innerWidth && !e.closest('[tabindex]')) return 'the focus is beside the page on ' + called(e);
    const under = behind(e.parentElement || e);
    if (ratio(over(colour(s.outlineColor), under), under) < 3) return 'the focus is too pale on ' + called(e);
    return '';
  };

  let passed = new Set(), seen = [];
  document.addEventListener('focusin', (e) => {
    passed.add(e.target);
    const r = ring(e.target);
    if (r) seen.push(r);
  });
  window.looked = {
    open: () => document.querySelectorAll('details').forEach((d) => { d.open = true; }),
    look: () => {
      const out = [];
      const say = (text) => { if (out.length < 20) out.push(text); };
      for (const check of [edges, texts, names, targets]) {
        try { check(say); } catch (e) { say(String(e)); }
      }
      return out;
    },
    begin: () => { passed = new Set(); seen = []; return controls().length; },
    tabbed: () => {
      const group = (e) => e.type === 'radio' ? e.form + ' ' + e.name : e;
      const got = new Set([...passed].map(group));
      return seen.concat(controls().filter((e) => !got.has(group(e))).map((e) => 'the Tab key does not lead to ' + called(e))).slice(0, 20);
    },
  };
})()
