import { useEffect, useRef, type KeyboardEvent } from 'react';

/** Returns whether a key press sends the text: Enter, Ctrl+Enter or Cmd+Enter, but not while an input method composes characters. */
export function isSendKey({ key, shiftKey, nativeEvent }: KeyboardEvent): boolean {
  return key === 'Enter' && !shiftKey && !nativeEvent.isComposing;
}

/** Calls `onEscape` when the person presses Escape, unless a dialog, an open list or a field uses the key. */
export function useEscape(isEnabled: boolean, onEscape: () => void): void {
  const latestListener = useRef(onEscape);
  useEffect(() => {
    latestListener.current = onEscape;
  });
  useEffect(() => {
    if (!isEnabled) return undefined;
    const onKeyDown = ({ key, target }: globalThis.KeyboardEvent): void => {
      if (key !== 'Escape' || (target instanceof Element && usesEscape(target))) return;
      latestListener.current();
    };
    // In the capture phase, the listener runs before an open list or dialog closes, so that `usesEscape` still finds it.
    document.addEventListener('keydown', onKeyDown, { capture: true });
    return () => document.removeEventListener('keydown', onKeyDown, { capture: true });
  }, [isEnabled]);
}

function usesEscape(target: Element): boolean {
  return (
    target.closest('[aria-expanded=true], [data-own-escape], [role=menu]') !== null ||
    document.querySelector('[role=dialog]') !== null
  );
}
