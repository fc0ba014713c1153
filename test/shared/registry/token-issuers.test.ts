import { expect, it } from 'vitest';
import { parseRegistry } from '#shared/registry/read-registry.ts';

const issuersOf = (text: string) => parseRegistry(text, 'router.yaml').token_issuers;

const [r, person] = ['audiences: [r]', 'rules: [{ person: email }]'];
const grant = (sub: string, more = '') => `{ match: { sub: ${sub} }, service_account: { name: s${more} } }`;

it('token issuers in the registry have rules with claims in either form, and limits', () => {
  const [issuer] = issuersOf(`
token_issuers:
- issuer: https://id.example.com
  audiences: [router]
  rules:
    - match: { sub: "system:serviceaccount:ml:*", email_verified: true, groups: [a, b] }
      service_account: { name: trainer, limits: { requests_per_minute: 60, cost_per_day: 2.5 } }
    - person: email
`);
  const match = { sub: ['system:serviceaccount:ml:*'], email_verified: ['true'], groups: ['a', 'b'] };
  const serviceAccount = { name: 'trainer', class: 'normal' };
  const rules = [
    { match: Object.entries(match), serviceAccount },
    { match: [], person: 'email' },
  ];
  expect(issuer).toMatchObject({ algorithms: ['RS256', 'ES256', 'EdDSA', 'Ed25519'], rules });
  expect(issuer?.rules[0]?.serviceAccount?.limits).toEqual({ requestsPerMinute: 60, costPerDay: 2.5 });
});

it.each([
  ['no audience', `audiences: [], ${person}`, 'audiences'],
  ['an algorithm with a shared secret', `${r}, algorithms: [HS256], ${person}`, 'algorithms'],
  ['no algorithm', `${r}, algorithms: [none], ${person}`, 'algorithms'],
  ['keys over plain HTTP', `${r}, jwks_uri: "http://id.example.com/keys", ${person}`, 'https'],
  ['two places of keys', `${r}, jwks_uri: "https://a.example", jwks_file: /a, ${person}`, 'one of'],
  ['a rule for everybody', `${r}, rules: [{ team: ml }]`, 'everybody'],
  ['a rule for nobody', `${r}, rules: [{ match: { sub: a } }]`, 'one of person'],
  ['a rule for two', `${r}, rules: [{ match: { sub: a }, team: ml, person: email }]`, 'one of person'],
  ['one service account with two grants', `${r}, rules: [${grant('a')}, ${grant('b', ', class: high')}]`, 'differ'],
])('token issuers in the registry are refused with %s', (_, fields, sentence) => {
  expect(() => issuersOf(`token_issuers: [{ issuer: "https://id.example.com", ${fields} }]`)).toThrow(sentence);
});

it('token issuers in the registry are refused if one comes twice, and if its keys would be discovered over plain HTTP', () => {
  const one = '{ issuer: "https://id.example.com", audiences: [r], rules: [{ person: email }] }';
  expect(() => issuersOf(`token_issuers: [${one}, ${one}]`)).toThrow('once');
  expect(() => issuersOf(`token_issuers: [${one.replace('https', 'http')}]`)).toThrow('https');
});
