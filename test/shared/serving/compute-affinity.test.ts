import { describe, expect, it } from 'vitest';
import { computeAffinity } from '#shared/serving/compute-affinity.ts';

const alice = { id: 'key-1', ownerId: 'alice' };
const session = { name: 'session', restarts: false };
const unnamed = { name: undefined, start: 'start' };

describe('the affinity of a request', () => {
  it("is the same for all keys of one owner, and different for another owner's identical conversation", () => {
    const own = computeAffinity(alice, session, unnamed);
    expect(computeAffinity({ id: 'key-2', ownerId: 'alice' }, session, unnamed)).toBe(own);
    expect(computeAffinity({ id: 'key-1', ownerId: 'bob' }, session, unnamed)).not.toBe(own);
  });

  it("of an issued key differs from its owner's, and stays when the key is rotated", () => {
    const issued = computeAffinity({ ...alice, storesAs: 'key-1' }, session, unnamed);
    expect(issued).not.toBe(computeAffinity(alice, session, unnamed));
    expect(computeAffinity({ id: 'key-2', ownerId: 'alice', storesAs: 'key-1' }, session, unnamed)).toBe(issued);
  });

  it('is different for each key without an owner', () => {
    const ofKey = (id: string) => computeAffinity({ id, ownerId: undefined }, session, unnamed);
    expect(ofKey('key-1')).toBe(ofKey('key-1'));
    expect(ofKey('key-1')).not.toBe(ofKey('key-2'));
  });

  it('depends on the start of a conversation without a name', () => {
    const own = computeAffinity(alice, undefined, unnamed);
    expect(computeAffinity(alice, undefined, unnamed)).toBe(own);
    expect(computeAffinity(alice, undefined, { name: undefined, start: 'summary' })).not.toBe(own);
  });

  it('depends on the name, whatever the start, if the client gives one', () => {
    const byHeader = computeAffinity(alice, session, unnamed);
    expect(computeAffinity(alice, session, { name: undefined, start: 'summary' })).toBe(byHeader);
    const byBody = computeAffinity(alice, undefined, { name: 'cache key', start: 'start' });
    expect(computeAffinity(alice, undefined, { name: 'cache key', start: 'summary' })).toBe(byBody);
    expect(new Set([byHeader, byBody, computeAffinity(alice, { name: 'other', restarts: false }, unnamed)]).size).toBe(
      3,
    );
  });

  it('depends on both in a session that restarts', () => {
    const restarting = { name: 'session', restarts: true };
    const own = computeAffinity(alice, restarting, unnamed);
    expect(computeAffinity(alice, restarting, unnamed)).toBe(own);
    expect(computeAffinity(alice, restarting, { name: undefined, start: 'summary' })).not.toBe(own);
    expect(computeAffinity(alice, { ...restarting, name: 'other' }, unnamed)).not.toBe(own);
  });
});
