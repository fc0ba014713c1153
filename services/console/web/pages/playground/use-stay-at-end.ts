import { useEffect, useLayoutEffect, useRef } from 'react';

/** A page counts as scrolled to the end if its end is fewer than this many pixels away. */
const nearPx = 120;

/**
 * Keeps the end of the page in view while content grows, unless the person has scrolled away.
 * @param growingLists lists that change when the content grows
 */
export function useStayAtEnd(...growingLists: readonly (readonly unknown[])[]): void {
  const isAtEnd = useRef(true);
  useEffect(() => {
    const notePosition = (): void => {
      const { scrollHeight, scrollTop, clientHeight } = document.documentElement;
      isAtEnd.current = scrollHeight - scrollTop - clientHeight < nearPx;
    };
    window.addEventListener('scroll', notePosition, { passive: true });
    return () => window.removeEventListener('scroll', notePosition);
  }, []);
  useLayoutEffect(() => {
    if (isAtEnd.current && growingLists.some(({ length }) => length > 0)) {
      window.scrollTo({ top: document.documentElement.scrollHeight });
    }
  }, growingLists);
}
