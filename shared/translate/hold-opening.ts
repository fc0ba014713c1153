import type { Ending, StreamTranslation } from './translation.ts';

/** Characters of an opening that are held at most; an upstream that opens for longer is relayed as it is. */
const mostHeld = 64 * 1024;

/**
 * Holds back what a translation writes before the first content, and writes both together: until then the client has
 * received nothing, so that the answer may begin anew on another worker, and a failure still decides the status. If the
 * upstream fails, the opening is dropped.
 */
export function holdOpening(translation: StreamTranslation): StreamTranslation {
  let held = '';
  let open = false;

  function pass(text: string): string {
    if (open) return text;
    held += text;
    open = translation.hasContent || held.length > mostHeld;
    return open ? takeHeld() : '';
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
    event: (data) => pass(translation.event(data)),
    end: (): { text: string; ending: Ending } => {
      const { text, ending } = translation.end();
      return { text: takeHeld() + text, ending };
    },
  };
}
