import { useEffect, useLayoutEffect, useRef } from 'react';

/** A page counts as scrolled to the end if fewer than this many pixels follow below the visible part. */
const nearEndPx = 120;

/**
 * Keeps the end of the page in view while content grows, unless the person has scrolled away.
 * @param growingLists lists that change when the content grows
 */
export function useStayAtEnd(...growingLists: readonly (readonly unknown[])[]): void {
  const isAtEnd = useRef(true);
  useEffect(() => {
    const updateIsAtEnd = (): void => {
      const { scrollHeight, scrollTop, clientHeight } = document.documentElement;
      isAtEnd.current = scrollHeight - scrollTop - clientHeight < nearEndPx;
    };
    window.addEventListener('scroll', updateIsAtEnd, { passive: true });
    return () => window.removeEventListener('scroll', updateIsAtEnd);
  }, []);
  useLayoutEffect(() => {
    if (isAtEnd.current && growingLists.some(({ length }) => length > 0)) {
      window.scrollTo({ top: document.documentElement.scrollHeight });
    }
  }, growingLists);
}
