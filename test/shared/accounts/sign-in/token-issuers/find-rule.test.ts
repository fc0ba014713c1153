import { expect, it } from 'vitest';
import { findClaim, findRule, matchesGlob } from '#shared/accounts/sign-in/token-issuers/find-rule.ts';
import { least } from '../../../../helpers/least.ts';
import { timeOf } from '../../../../helpers/time-of.ts';

/** The claims of a projected token of Kubernetes 1.33. */
const times = { exp: 1_795_760_000, iat: 1_795_756_400, nbf: 1_795_756_400 };
const pod = { name: 'trainer-7d9c', uid: '9b1c' };
const projected = {
  ...times,
  aud: ['router'],
  iss: 'https://kubernetes.default.svc.cluster.local',
  'kubernetes.io': { namespace: 'ml', pod, serviceaccount: { name: 'trainer', uid: '51d0' } },
  sub: 'system:serviceaccount:ml:trainer',
};

it('a claim is found below names that contain dots', () => {
  expect(findClaim(projected, 'kubernetes.io.namespace')).toBe('ml');
  expect(findClaim(projected, 'kubernetes.io.serviceaccount.name')).toBe('trainer');
  expect(findClaim({ 'a.b': { c: 1 }, a: { 'b.c': 2 }, 'a.b.c': 3 }, 'a.b.c')).toBe(3);
  expect(findClaim({ a: { 'b.c': 2 } }, 'a.b.c')).toBe(2);
});

it('a claim is not found in what every object has, nor in lists and texts', () => {
  const paths = 'constructor.name __proto__.toString aud.0 aud.length sub.length nothing.at.all';
  for (const path of paths.split(' ')) expect(findClaim(projected, path), path).toBeUndefined();
});

const ruleFor = (match: Record<string, string[]>) =>
  findRule([{ match: Object.entries(match), team: 'ml' }], projected);

it('a rule matches tokens that have all of its claims, each with one of its values', () => {
  expect(ruleFor({ sub: ['system:serviceaccount:ml:*'] })).toMatchObject({ team: 'ml' });
  expect(ruleFor({ 'kubernetes.io.namespace': ['web', 'ml'], aud: ['router'] })).toBeDefined();
  expect(ruleFor({ 'kubernetes.io.namespace': ['web'], aud: ['router'] })).toBeUndefined();
  expect(ruleFor({ sub: ['system:serviceaccount:*:other'] })).toBeUndefined();
  expect(ruleFor({ groups: ['*'] })).toBeUndefined();
  expect(ruleFor({ 'kubernetes.io': ['*'] })).toBeUndefined();
});

it('a rule counts if it is the first that matches', () => {
  const rules = [
    { match: [['sub', ['x']]], team: 'one' },
    { match: [], team: 'two' },
    { match: [], team: 'three' },
  ] as const;
  expect(findRule(rules, projected)?.team).toBe('two');
});

it('a pattern stands for a whole value, and `*` in it for any characters', () => {
  /** Returns which of some values a pattern stands for. */
  const matching = (pattern: string, ...values: string[]) => values.filter((value) => matchesGlob(pattern, value));
  expect(matching('ml', 'ml', 'ml2', 'xml')).toEqual(['ml']);
  expect([matching('*', ''), matching('a*', 'a'), matching('a.c', 'abc')]).toEqual([[''], ['a'], []]);
  expect(matching('a*a', 'a', 'aa')).toEqual(['aa']);
  expect(matching('a*b*c', 'a-b-b-c', 'a-c-b')).toEqual(['a-b-b-c']);
  expect(matching('*ab*ab', 'ab', 'abab')).toEqual(['abab']);
  const main = 'repo:acme/web:ref:refs/heads/main';
  expect(matching('repo:acme/*:ref:refs/heads/main', main, `${main}2`)).toEqual([main]);
  expect(matching('repo:acme/*', 'repo:acme-evil/web')).toEqual([]);
});

it('a pattern is compared in a time that grows with the text only', async () => {
  const match = () => expect(matchesGlob('*a'.repeat(200) + 'b', 'a'.repeat(16_000))).toBe(false);
  expect(await least(timeOf(match), 1_000)).toBeLessThan(1_000);
});
