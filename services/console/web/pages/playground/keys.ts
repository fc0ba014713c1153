import { useEffect, useRef, type KeyboardEvent } from 'react';

/** Whether a key sends what is written: Enter without Shift, also with Ctrl or Cmd. */
export function isSendKey({ key, shiftKey, nativeEvent }: KeyboardEvent): boolean {
  return key === 'Enter' && !shiftKey && !nativeEvent.isComposing;
}

/** Calls back when Escape is pressed, unless it closes something: a dialog, an open list, or a field that has a use for it. */
export function useEscape(isOn: boolean, onEscape: () => void): void {
  const latest = useRef(onEscape);
  useEffect(() => {
    latest.current = onEscape;
  });
  useEffect(() => {
    if (!isOn) return undefined;
    const listen = ({ key, target }: globalThis.KeyboardEvent): void => {
      if (key !== 'Escape' || (target instanceof Element && hasOwnEscape(target))) return;
      latest.current();
    };
    // Before whatever closes on it has closed.
    document.addEventListener('keydown', listen, { capture: true });
    return () => document.removeEventListener('keydown', listen, { capture: true });
  }, [isOn]);
}

function hasOwnEscape(target: Element): boolean {
  return (
    target.closest('[aria-expanded=true], [data-own-escape], [role=menu]') !== null ||
    document.querySelector('[role=dialog]') !== null
  );
}
