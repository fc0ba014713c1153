/**
 * Copies a text to the clipboard. Browsers provide the clipboard's API only on pages with TLS and on pages of the machine itself. On other
 * pages the text is selected in a hidden field and copied by `document.execCommand`.
 * @returns whether the text was copied
 */
export async function copyText(text: string): Promise<boolean> {
  // The type of `navigator` declares the clipboard as always present.
  const clipboard: Clipboard | undefined = navigator.clipboard;
  if (clipboard) {
    try {
      await clipboard.writeText(text);
      return true;
    } catch {
      // The browser or the person does not permit the API, but the command may still work.
    }
  }
  return copyByCommand(text);
}

function copyByCommand(text: string): boolean {
  const focusedElement = document.activeElement;
  // A dialog takes the focus back from everything outside of it.
  const parent = focusedElement?.closest('[role=dialog]') ?? document.body;
  const field = document.createElement('textarea');
  field.value = text;
  field.readOnly = true;
  field.setAttribute('aria-hidden', 'true');
  // The field is in view, so that the page does not scroll to it.
  field.style.cssText = 'position:fixed;inset:0 auto auto 0;width:1px;height:1px;padding:0;border:0;opacity:0';
  parent.append(field);
  try {
    field.select();
    return document.execCommand('copy');
  } finally {
    field.remove();
    if (focusedElement instanceof HTMLElement) focusedElement.focus({ preventScroll: true });
  }
}
