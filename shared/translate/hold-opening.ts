import type { Ending, StreamTranslation } from './translation.ts';

/** Maximum characters of an opening to hold back. A longer opening is relayed at once. */
const maxHeld = 64 * 1024;

/**
 * Wraps a translation so that the opening of the stream, which is everything before the first content, is held back and sent together with
 * that content. Until then the client has received nothing, so the answer may begin anew on another worker, and a failure can still set the
 * HTTP status. If the upstream fails, the opening is dropped.
 */
export function holdOpening(translation: StreamTranslation): StreamTranslation {
  let held = '';
  let isOpen = false;

  function holdOrPass(text: string): string {
    if (isOpen) return text;
    held += text;
    isOpen = translation.hasContent || held.length > maxHeld;
    return isOpen ? takeHeld() : '';
  }

  function takeHeld(): string {
    const text = held;
    held = '';
    return text;
  }

  return {
    get hasContent(): boolean {
      return translation.hasContent;
    },
    get awaitsChoice(): boolean | undefined {
      return translation.awaitsChoice;
    },
    event: (data) => holdOrPass(translation.event(data)),
    end: (): { text: string; ending: Ending } => {
      const { text, ending } = translation.end();
      return { text: takeHeld() + text, ending };
    },
  };
}
