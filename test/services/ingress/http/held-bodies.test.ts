import { expect, it } from 'vitest';
import type { Limits } from '#shared/accounts/limits/limits.ts';
import type { BodyReservation } from '#services/ingress/http/body-reservation.ts';
import { HeldBodies } from '#services/ingress/http/held-bodies.ts';
import { errorWith } from '../../../helpers/error-with.ts';

const overloaded = errorWith('overloaded');

function sender(id: string, limits: Limits = {}, ownerId?: string) {
  return { id, ownerId, limits: [{ party: `key:${id}`, limits } as const] };
}

function grows(body: BodyReservation, bytes: number): boolean {
  try {
    body.grow(bytes);
    return true;
  } catch {
    return false;
  }
}

it('a body that is still decompressed after its client has left takes no room', () => {
  const held = new HeldBodies(1_000, 10);
  const left = held.admit(sender('key'));
  left.grow(400);
  left.release();
  expect(() => left.grow(400)).toThrow(errorWith('invalid_json'));
  expect(held.bytes).toBe(0);
  const next = held.admit(sender('key'));
  next.grow(1_000);
  expect(held.bytes).toBe(1_000);
});

it('a key leaves as much memory free as it holds, and a single body may take all', () => {
  const held = new HeldBodies(1_000, 10);
  const first = held.admit(sender('loud'));
  first.grow(400);
  const second = held.admit(sender('loud'));
  second.grow(100);
  expect(() => second.grow(1)).toThrow(overloaded);
  const other = held.admit(sender('quiet'));
  other.grow(250);
  expect(() => held.admit(sender('quiet')).grow(1)).toThrow(overloaded);
  first.release();
  second.grow(250);
  expect(held.bytes).toBe(600);
  for (const each of [second, other]) each.release();
  held.admit(sender('loud')).grow(1_000);
});

it('a request that takes more than the memory for all bodies is too large, however long its client waits', () => {
  const held = new HeldBodies(1_000, 10);
  const body = held.admit(sender('key'));
  body.grow(400);
  expect(() => body.grow(601)).toThrow(errorWith('body_too_large'));
  held.admit(sender('other')).grow(300);
  expect(() => body.grow(600)).toThrow(overloaded);
});

it('what a running answer adds needs only the memory of all, not the share of its owner', () => {
  const held = new HeldBodies(1_000, 10);
  const [running, next] = [held.admit(sender('key')), held.admit(sender('key'))];
  next.grow(500);
  expect(() => running.hold(1, 'owner')).toThrow(overloaded);
  running.hold(500, 'process');
  expect(() => running.hold(1, 'process')).toThrow(overloaded);
});

it('a request gives back what it no longer uses, and nothing after its end', () => {
  const held = new HeldBodies(1_000, 10);
  const body = held.admit(sender('key'));
  body.grow(500);
  body.shrink(200);
  expect(held.bytes).toBe(300);
  body.release();
  body.shrink(100);
  expect(held.bytes).toBe(0);
});

it('the keys of an owner share its memory and its places', () => {
  const held = new HeldBodies(1_000, 100);
  const keys = Array.from({ length: 30 }, (_, at) => held.admit(sender(`key-${at}`, {}, 'ada')));
  expect(keys.filter((body) => grows(body, 100))).toHaveLength(5);
  const other = held.admit(sender('quiet', {}, 'bob'));
  other.grow(250);
  for (let at = 30; at < 89; at += 1) held.admit(sender(`key-${at}`, {}, 'ada'));
  expect(() => held.admit(sender('key-89', {}, 'ada'))).not.toThrow();
  expect(() => held.admit(sender('key-90', {}, 'ada'))).toThrow(overloaded);
  held.admit(sender('quiet', {}, 'bob'));
});

it('a key has a tenth of the places less than all', () => {
  const held = new HeldBodies(1_000, 10);
  const loud = Array.from({ length: 9 }, () => held.admit(sender('loud')));
  expect(() => held.admit(sender('loud'))).toThrow(overloaded);
  held.admit(sender('quiet'));
  expect(() => held.admit(sender('other'))).toThrow(overloaded);
  loud[0]?.release();
  held.admit(sender('other'));
});

it('a key may have slow bodies for as many requests as its limit allows, and eight more', () => {
  const held = new HeldBodies(1_000, 100);
  const limited = sender('limited', { concurrentRequests: 2 });
  const slow = () => {
    const holding = held.admit(limited);
    holding.markSlow(() => undefined);
    return holding;
  };
  // A body that arrives at once is not slow.
  for (let at = 0; at < 20; at += 1) held.admit(limited);
  const [first] = Array.from({ length: 10 }, slow);
  expect(() => held.admit(limited)).toThrow(errorWith('rate_limit_exceeded'));
  held.admit(sender('other', { concurrentRequests: 2 }));
  first?.markArrived();
  const released = slow();
  expect(() => held.admit(limited)).toThrow(errorWith('rate_limit_exceeded'));
  released.release();
  slow();
});

it('when all places are taken, the body that has been arriving for longest makes room', () => {
  const held = new HeldBodies(1_000, 3);
  const ended: string[] = [];
  const slow = (name: string) => {
    const holding = held.admit(sender(name));
    holding.markSlow(({ code }) => ended.push(`${name} ${code}`));
    holding.grow(100);
    return holding;
  };
  const [oldest, read] = [slow('oldest'), slow('read'), slow('newest')];
  read.markArrived();
  const next = held.admit(sender('next'));
  expect(ended).toEqual(['oldest overloaded']);
  expect(held.bytes).toBe(200);
  oldest.release();
  held.admit(sender('last'));
  expect(ended).toEqual(['oldest overloaded', 'newest overloaded']);
  expect(() => held.admit(sender('late'))).toThrow(overloaded);
  next.release();
  held.admit(sender('late'));
});
