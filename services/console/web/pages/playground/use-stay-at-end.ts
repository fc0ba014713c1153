import { useEffect, useLayoutEffect, useRef } from 'react';

/** A page counts as scrolled to the end if it is fewer than this many pixels away from it. */
const nearPx = 120;

/**
 * Keeps the end of the page in view while content grows, unless the person has scrolled away.
 * @param grows changes when the content grows
 */
export function useStayAtEnd(...grows: readonly (readonly unknown[])[]): void {
  const isAtEnd = useRef(true);
  useEffect(() => {
    const note = (): void => {
      const { scrollHeight, scrollTop, clientHeight } = document.documentElement;
      isAtEnd.current = scrollHeight - scrollTop - clientHeight < nearPx;
    };
    window.addEventListener('scroll', note, { passive: true });
    return () => window.removeEventListener('scroll', note);
  }, []);
  useLayoutEffect(() => {
    if (isAtEnd.current && grows.some(({ length }) => length > 0)) {
      window.scrollTo({ top: document.documentElement.scrollHeight });
    }
  }, grows);
}
