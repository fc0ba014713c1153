import type { Ending, StreamTranslation } from './translation.ts';

/** Maximum characters of an opening that is held back. A longer opening is sent at once. */
const maxHeld = 64 * 1024;

/**
 * Wraps a translation to hold back the opening of its stream: all events before the first content. The opening is sent together with that
 * content. Until then the client has received nothing, so another worker can begin the answer anew, and a failure can still set the HTTP
 * status. If the upstream fails, the opening is dropped.
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
    translateEvent: (data) => holdOrPass(translation.translateEvent(data)),
    translateEnd: (): { text: string; ending: Ending } => {
      const { text, ending } = translation.translateEnd();
      return { text: takeHeld() + text, ending };
    },
  };
}
