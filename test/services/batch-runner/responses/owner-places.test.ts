import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { OwnerPlaces } from '#services/batch-runner/responses/owner-places.ts';
import { RunLaterError } from '#shared/background/background-worker.ts';
import { silentLog } from '../../../helpers/silent-log.ts';

function openPlaces(places: number, isWaiting: (id: string) => boolean = () => true) {
  const recalled: string[] = [];
  const tryNow = ({ id }: { id: string }) => {
    recalled.push(id);
    return Promise.resolve(isWaiting(id));
  };
  return { recalled, places: new OwnerPlaces({ places, jobs: { tryNow }, log: silentLog }) };
}

function takeAll(places: OwnerPlaces, owner: string, ids: readonly string[]): string[] {
  return ids.filter((id) => {
    try {
      places.take(owner, id);
      return true;
    } catch (error) {
      expect(error).toBeInstanceOf(RunLaterError);
      return false;
    }
  });
}

const ids = (owner: string, count: number): string[] => Array.from({ length: count }, (_, at) => `${owner}-${at}`);

describe('the places of a runner for responses', () => {
  it('go to an owner up to half of what the others leave, and at least one to each', () => {
    const { places } = openPlaces(16);
    expect(takeAll(places, 'ada', ids('ada', 20))).toHaveLength(8);
    expect(takeAll(places, 'bob', ids('bob', 20))).toHaveLength(4);
    expect(takeAll(places, 'cy', ids('cy', 20))).toHaveLength(2);
    expect(takeAll(places, 'dan', ids('dan', 20))).toHaveLength(1);
    expect(takeAll(places, 'eve', ids('eve', 20))).toHaveLength(1);
  });

  it('are given to an owner again when one of its responses ends, which recalls the one that was refused first', () => {
    const { places, recalled } = openPlaces(4);
    expect(takeAll(places, 'ada', ids('ada', 4))).toEqual(['ada-0', 'ada-1']);
    places.release('ada');
    expect(recalled).toEqual(['ada-2']);
    expect(takeAll(places, 'ada', ['ada-2', 'ada-3'])).toEqual(['ada-2']);
    places.release('ada');
    places.release('ada');
    expect(recalled).toEqual(['ada-2', 'ada-3']);
  });

  it('are given to all refused responses of an owner one after the other, also when its last ones end together', () => {
    const { places, recalled } = openPlaces(4);
    takeAll(places, 'ada', ids('ada', 5));
    places.release('ada');
    places.release('ada');
    expect(recalled).toEqual(['ada-2', 'ada-3']);
    expect(takeAll(places, 'ada', ['ada-2', 'ada-3'])).toEqual(['ada-2', 'ada-3']);
    places.release('ada');
    expect(recalled).toEqual(['ada-2', 'ada-3', 'ada-4']);
  });

  it('are given to the next refused response when the first one no longer waits', async () => {
    const { places, recalled } = openPlaces(2, (id) => id === 'ada-3');
    takeAll(places, 'ada', ids('ada', 5));
    places.release('ada');
    await setImmediate();
    expect(recalled).toEqual(['ada-1', 'ada-2', 'ada-3']);
  });

  it('recall at most 100 refused responses of an owner before they ask again', async () => {
    const { places, recalled } = openPlaces(2, () => false);
    takeAll(places, 'ada', ids('ada', 1_000));
    places.release('ada');
    await setImmediate();
    expect(recalled).toHaveLength(100);
  });
});
