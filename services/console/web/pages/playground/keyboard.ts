import { useEffect, useRef, type KeyboardEvent } from 'react';

/** Returns whether a key press sends the text: Enter without Shift, also with Ctrl or Cmd. */
export function isSendKey({ key, shiftKey, nativeEvent }: KeyboardEvent): boolean {
  return key === 'Enter' && !shiftKey && !nativeEvent.isComposing;
}

/** Calls back when Escape is pressed, unless a dialog, an open list or a field uses it. */
export function useEscape(isEnabled: boolean, onEscape: () => void): void {
  const latestListener = useRef(onEscape);
  useEffect(() => {
    latestListener.current = onEscape;
  });
  useEffect(() => {
    if (!isEnabled) return undefined;
    const listen = ({ key, target }: globalThis.KeyboardEvent): void => {
      if (key !== 'Escape' || (target instanceof Element && usesEscape(target))) return;
      latestListener.current();
    };
    // The event is captured, so that the listener runs before an element that closes on Escape.
    document.addEventListener('keydown', listen, { capture: true });
    return () => document.removeEventListener('keydown', listen, { capture: true });
  }, [isEnabled]);
}

function usesEscape(target: Element): boolean {
  return (
    target.closest('[aria-expanded=true], [data-own-escape], [role=menu]') !== null ||
    document.querySelector('[role=dialog]') !== null
  );
}
