import { useEffect, useLayoutEffect, useRef } from 'react';

/** How near to its end, in pixels, a page counts as read to the end. */
const nearPx = 120;

/** Keeps the end of the page in view while it grows, unless somebody has scrolled away from there. */
export function useStayAtEnd(grows: readonly unknown[]): void {
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
    if (isAtEnd.current && grows.length > 0) {
      window.scrollTo({ top: document.documentElement.scrollHeight });
    }
  }, [grows]);
}
