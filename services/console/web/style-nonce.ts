/** What libraries that make style elements while they run must mark them with: the page's policy allows no others. */
export function styleNonce(): string {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.nonce ?? '';
  // Where the library that keeps the page from scrolling behind a dialog looks for it.
  Object.assign(globalThis, { __webpack_nonce__: nonce });
  return nonce;
}
