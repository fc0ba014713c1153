import type { Environment } from '#shared/core/load-config.ts';
import { chatUpstream } from '#shared/translate/upstreams/chat/chat-upstream.ts';
import { bearer, type Guess, type Provider } from '../provider.ts';
import { allCapabilities, capabilitiesIf, createNameReader } from '../read-cards.ts';
import { engineHints } from '../request-rules.ts';
import { anthropic } from './anthropic.ts';

const guess: Guess = (id) =>
  id.startsWith('anthropic.') || /embed|rerank|image|canvas|sonic|reel|safeguard/.test(id)
    ? undefined
    : capabilitiesIf({ tools: true, vision: /gemma|vl|grok|pixtral|gpt-5/.test(id), thinking: true, json: true });

const isClaude: Guess = (id) => (id.startsWith('anthropic.') ? allCapabilities : undefined);

const keyVariables = ['AWS_BEARER_TOKEN_BEDROCK'];
const needs = ['AWS_REGION'];
const host = ({ AWS_REGION: region }: Environment): string => `https://bedrock-mantle.${region}.api.aws`;

/**
 * Amazon Bedrock at its key-based endpoint of the chat format (Amazon Bedrock User Guide, "bedrock-mantle"), which serves all models except
 * Anthropic's.
 */
export const bedrock: Provider = {
  title: 'Amazon Bedrock',
  traceName: 'aws.bedrock',
  format: chatUpstream,
  keyVariables,
  needs,
  url: (environment) => `${host(environment)}/v1`,
  authorize: bearer,
  list: { path: '/models', read: createNameReader(guess) },
  guess,
  rules: { drop: engineHints, replayedThinking: 'none' },
};

/** Anthropic's models on Amazon Bedrock, at the same service's endpoint of the messages format ("Messages API"). */
export const bedrockClaude: Provider = {
  ...anthropic,
  title: 'Amazon Bedrock (Claude)',
  traceName: 'aws.bedrock',
  keyVariables,
  needs,
  url: (environment) => `${host(environment)}/anthropic/v1`,
  authorize: bearer,
  list: { path: '/models', read: createNameReader(isClaude) },
  guess: isClaude,
};
