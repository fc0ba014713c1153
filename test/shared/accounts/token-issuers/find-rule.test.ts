import { describe, expect, it } from 'vitest';
import { claimAt, findRule, matchesGlob } from '#shared/accounts/token-issuers/find-rule.ts';

/** The claims of a projected token of Kubernetes 1.33. */
const projected = {
  aud: ['router'],
  exp: 1_795_760_000,
  iat: 1_795_756_400,
  iss: 'https://kubernetes.default.svc.cluster.local',
  jti: '6f1a4b0e-6a3c-4c4b-8f0e-2f6f0f0c9d1a',
  'kubernetes.io': {
    namespace: 'ml',
    node: { name: 'node-1', uid: '3f2a' },
    pod: { name: 'trainer-7d9c', uid: '9b1c' },
    serviceaccount: { name: 'trainer', uid: '51d0' },
  },
  nbf: 1_795_756_400,
  sub: 'system:serviceaccount:ml:trainer',
};

describe('a claim', () => {
  it('is found below names that contain dots', () => {
    expect(claimAt(projected, 'kubernetes.io.namespace')).toBe('ml');
    expect(claimAt(projected, 'kubernetes.io.serviceaccount.name')).toBe('trainer');
    expect(claimAt({ 'a.b': { c: 1 }, a: { 'b.c': 2 }, 'a.b.c': 3 }, 'a.b.c')).toBe(3);
    expect(claimAt({ a: { 'b.c': 2 } }, 'a.b.c')).toBe(2);
  });

  it('is not found in what every object has, nor in lists and texts', () => {
    for (const path of [
      'constructor.name',
      '__proto__.toString',
      'aud.0',
      'aud.length',
      'sub.length',
      'nothing.at.all',
    ])
      expect(claimAt(projected, path)).toBeUndefined();
  });
});

describe('a rule', () => {
  const ruleFor = (match: Record<string, string[]>) =>
    findRule([{ match: Object.entries(match), team: 'ml' }], projected);

  it('is for tokens that have all of its claims, each with one of its values', () => {
    expect(ruleFor({ sub: ['system:serviceaccount:ml:*'] })).toMatchObject({ team: 'ml' });
    expect(ruleFor({ 'kubernetes.io.namespace': ['web', 'ml'], aud: ['router'] })).toBeDefined();
    expect(ruleFor({ 'kubernetes.io.namespace': ['web'], aud: ['router'] })).toBeUndefined();
    expect(ruleFor({ sub: ['system:serviceaccount:*:other'] })).toBeUndefined();
    expect(ruleFor({ groups: ['*'] })).toBeUndefined();
    expect(ruleFor({ 'kubernetes.io': ['*'] })).toBeUndefined();
  });

  it('counts if it is the first that matches', () => {
    const rules = [
      { match: [['sub', ['x']]], team: 'one' },
      { match: [], team: 'two' },
      { match: [], team: 'three' },
    ] as const;
    expect(findRule(rules, projected)?.team).toBe('two');
  });
});

describe('a pattern', () => {
  it('stands for a whole value, and `*` in it for any characters', () => {
    const cases: [string, string, boolean][] = [
      ['ml', 'ml', true],
      ['ml', 'ml2', false],
      ['ml', 'xml', false],
      ['*', '', true],
      ['a*', 'a', true],
      ['a*a', 'a', false],
      ['a*a', 'aa', true],
      ['a*b*c', 'a-b-b-c', true],
      ['a*b*c', 'a-c-b', false],
      ['*ab*ab', 'ab', false],
      ['*ab*ab', 'abab', true],
      ['a.c', 'abc', false],
      ['repo:acme/*:ref:refs/heads/main', 'repo:acme/web:ref:refs/heads/main', true],
      ['repo:acme/*:ref:refs/heads/main', 'repo:acme/web:ref:refs/heads/main2', false],
      ['repo:acme/*', 'repo:acme-evil/web', false],
    ];
    for (const [pattern, value, matches] of cases)
      expect([pattern, value, matchesGlob(pattern, value)]).toEqual([pattern, value, matches]);
  });

  it('is compared in a time that grows with the text only', () => {
    const started = performance.now();
    expect(matchesGlob('*a'.repeat(200) + 'b', 'a'.repeat(16_000))).toBe(false);
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});
