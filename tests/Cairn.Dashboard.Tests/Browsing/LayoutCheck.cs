namespace Cairn.Dashboard.Tests.Browsing;

/// <summary>The script that finds misplaced texts in the present layout of the page.</summary>
internal static class LayoutCheck
{
    /// <summary>Returns a list of faults: texts that are cut, that exceed their card, or that overlap another text.</summary>
    /// <remarks>
    /// A text may be cut on purpose. Either it has an ellipsis, and its element or one around it has a title. Or its element scrolls, and the keyboard
    /// can reach that element.
    /// </remarks>
    public const string Script =
        """
        async () => {
          // Charts draw themselves again when their size has changed, which they notice in the next frame.
          await new Promise(requestAnimationFrame);
          await new Promise(requestAnimationFrame);
          const wrong = new Set();
          const nameOf = e => `${e.tagName.toLowerCase()}${e.getAttribute('class') ? `.${e.getAttribute('class').replaceAll(' ', '.')}` : ''}`;
          const root = document.documentElement;
          if (root.scrollWidth > root.clientWidth) {
            wrong.add(`the page is ${root.scrollWidth} wide`);
          }
          const ancestors = e => { const all = []; for (; e && e !== document.body; e = e.parentElement) all.push(e); return all; };
          const styles = new Map();
          const styleOf = e => styles.get(e) ?? styles.set(e, getComputedStyle(e)).get(e);
          const isUnseen = e => !e.checkVisibility() || ancestors(e).some(a => styleOf(a).clipPath !== 'none' || styleOf(a).position === 'fixed' || a.matches('.skip, .tip, option, noscript'));
          const isEllipsis = e => styleOf(e).textOverflow === 'ellipsis' && ancestors(e).concat([...e.children]).some(a => a.title);
          const isScrollable = e => ['auto', 'scroll'].includes(styleOf(e).overflowX) && (e.tabIndex >= 0 || e.querySelector('[tabindex]'));
          for (const e of document.querySelectorAll('body *')) {
            if (e instanceof HTMLElement && e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1 && !isUnseen(e) && !isEllipsis(e) && !isScrollable(e)
                && !['INPUT', 'SELECT'].includes(e.tagName) && !ancestors(e).slice(1).some(isScrollable)) {
              wrong.add(`${nameOf(e)} is ${e.clientWidth} wide and has ${e.scrollWidth}: ${e.textContent.slice(0, 40)}`);
            }
          }
          const texts = [];
          const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
          while (walker.nextNode()) {
            const e = walker.currentNode.parentElement;
            const text = walker.currentNode.textContent.trim();
            if (!text || isUnseen(e)) {
              continue;
            }
            const around = ancestors(e);
            const range = document.createRange();
            range.selectNodeContents(walker.currentNode);
            for (const rect of range.getClientRects()) {
              let { left, right, top, bottom } = rect;
              if (right - left < 1) {
                continue;
              }
              let isAway = false;
              for (const a of around) {
                const box = a.getBoundingClientRect();
                const style = styleOf(a);
                const isBox = style.display !== 'inline' && (a instanceof HTMLElement || a.tagName === 'svg');
                if (isBox && (['auto', 'scroll'].includes(style.overflowX) || isEllipsis(a))) {
                  [left, right, top, bottom] = [Math.max(left, box.left), Math.min(right, box.right), Math.max(top, box.top), Math.min(bottom, box.bottom)];
                  isAway ||= right - left < 1 || bottom - top < 1;
                } else if (!isAway && (a.matches('.card, .tile, svg, button, dialog, nav, header, td, th') || (isBox && style.overflowX !== 'visible'))
                    && (left < box.left - 1 || right > box.right + 1 || top < box.top - 4 || bottom > box.bottom + 4)) {
                  wrong.add(`"${text.slice(0, 40)}" leaves ${nameOf(a)}`);
                }
              }
              if (!isAway) {
                texts.push({ e, text, left, right, top, bottom });
              }
            }
          }
          texts.forEach((one, i) => {
            for (const other of texts.slice(i + 1)) {
              if (one.e !== other.e && Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1.5
                  && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 4) {
                wrong.add(`"${one.text.slice(0, 40)}" lies on "${other.text.slice(0, 40)}"`);
              }
            }
          });
          return [...wrong];
        }
        """;
}
