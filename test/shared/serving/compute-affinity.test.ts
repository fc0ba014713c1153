import { describe, expect, it } from 'vitest';
import { computeAffinity } from '#shared/serving/compute-affinity.ts';

const alice = { id: 'key-1', ownerId: 'alice' };
const session = { name: 'session', mayRestart: false };
const unnamed = { name: undefined, start: 'start' };
const summary = { ...unnamed, start: 'summary' };
const affinityOf = (key: Parameters<typeof computeAffinity>[0]) => computeAffinity(key, session, unnamed);

describe('the affinity of a request', () => {
  it("is the same for all keys of one owner, and different for another owner's identical conversation", () => {
    expect(affinityOf({ ...alice, id: 'key-2' })).toBe(affinityOf(alice));
    expect(affinityOf({ ...alice, ownerId: 'bob' })).not.toBe(affinityOf(alice));
  });

  it("of an issued key differs from its owner's, and stays when the key is rotated", () => {
    const issued = affinityOf({ ...alice, storesAs: 'key-1' });
    expect(issued).not.toBe(affinityOf(alice));
    expect(affinityOf({ ...alice, id: 'key-2', storesAs: 'key-1' })).toBe(issued);
  });

  it('is different for each key without an owner', () => {
    const ofKey = (id: string) => affinityOf({ id, ownerId: undefined });
    expect(ofKey('key-1')).toBe(ofKey('key-1'));
    expect(ofKey('key-1')).not.toBe(ofKey('key-2'));
  });

  it('depends on the start of a conversation without a name', () => {
    const own = computeAffinity(alice, undefined, unnamed);
    expect(computeAffinity(alice, undefined, unnamed)).toBe(own);
    expect(computeAffinity(alice, undefined, summary)).not.toBe(own);
  });

  it('depends on the name, whatever the start, if the client gives one', () => {
    const byHeader = affinityOf(alice);
    expect(computeAffinity(alice, session, summary)).toBe(byHeader);
    const byBody = computeAffinity(alice, undefined, { ...unnamed, name: 'cache key' });
    expect(computeAffinity(alice, undefined, { ...summary, name: 'cache key' })).toBe(byBody);
    expect(new Set([byHeader, byBody, computeAffinity(alice, { ...session, name: 'other' }, unnamed)]).size).toBe(3);
  });

  it('depends on both in a session that restarts', () => {
    const restarting = { name: 'session', mayRestart: true };
    const own = computeAffinity(alice, restarting, unnamed);
    expect(computeAffinity(alice, restarting, unnamed)).toBe(own);
    expect(computeAffinity(alice, restarting, summary)).not.toBe(own);
    expect(computeAffinity(alice, { ...restarting, name: 'other' }, unnamed)).not.toBe(own);
  });
});
