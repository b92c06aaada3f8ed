// What the theme's script leaves out for those who do not use a mouse.
"use strict";
const mend = () => {
  // Buttons on blocks of code are no places to navigate to: screen readers would list one for each.
  for (const bar of document.querySelectorAll(".md-code__nav:not([role])")) bar.setAttribute("role", "none");
  // Code that is wider than its block is scrolled by keyboard, too; the theme takes that away on touch screens.
  for (const code of document.querySelectorAll("pre > code:not([tabindex])")) code.tabIndex = 0;
};
new MutationObserver(mend).observe(document.documentElement, { attributeFilter: ["tabindex"], childList: true, subtree: true });
