import type { LineSlots } from '../slots/line-slots.ts';
import type { ModelBreakers } from '../slots/model-breakers.ts';
import type { WaitingWork } from '../slots/waiting-work.ts';
import { findLinePlace, type LinePlace, type WaitingLine } from './line-place.ts';

/** Milliseconds between two checks for a free slot, in case a change goes unnoticed. */
const checkMs = 100;

type TakeSlotParts = Parameters<typeof findLinePlace>[0] & {
  slots: LineSlots;
  breakers: ModelBreakers;
  waitingWork: Pick<WaitingWork, 'setTiers'>;
};

/**
 * Waits until a worker has a free slot for the line, and reserves the slot.
 * @param callbacks called at the beginning and the end of the wait
 * @returns undefined if the signal aborts first. Call `releaseSlot` to end the reservation. Call `endRequest` when the request has ended,
 * so that the model's breaker stops counting it
 */
export async function takeLineSlot(
  parts: TakeSlotParts,
  line: WaitingLine,
  callbacks: { onWait: (place: () => LinePlace) => void; onGoOn: () => void },
  signal: AbortSignal,
): Promise<{ releaseSlot: () => void; model: string; endRequest: () => void } | undefined> {
  const { slots, breakers, waitingWork } = parts;
  const findPlace = (): LinePlace => findLinePlace(parts, line);
  callbacks.onWait(findPlace);
  try {
    while (!signal.aborted) {
      const { model, placements, tiers } = findPlace();
      const releaseSlot = model !== undefined && slots.reserve(placements);
      if (releaseSlot) return { releaseSlot, model, endRequest: breakers.begin(model) };
      waitingWork.setTiers(line, tiers);
      await slots.waitForChange(checkMs, signal);
    }
    return undefined;
  } finally {
    waitingWork.setTiers(line, []);
    callbacks.onGoOn();
  }
}
