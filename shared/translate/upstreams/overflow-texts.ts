import type { Overflow } from '#shared/formats/context-overflow.ts';

/** How upstreams say in words that a request does not fit, and which of their numbers is what. */
const texts: readonly { pattern: RegExp; read: (numbers: readonly number[]) => Overflow }[] = [
  // Anthropic.
  {
    pattern: /prompt is too long: (\d+) tokens > (\d+) maximum/,
    read: ([input, maximum]) => ({ input, maximum }),
  },
  {
    pattern: /input length and `max_tokens` exceed context limit: (\d+) \+ (\d+) > (\d+)/,
    read: ([input, output, maximum]) => ({ input, output, maximum }),
  },
  // OpenAI and older vLLM: the total, then its parts.
  {
    pattern:
      /maximum context length is (\d+) tokens\. However, you requested \d+ tokens \((\d+) in the messages, (\d+) in the completion\)/,
    read: ([maximum, input, output]) => ({ input, output, maximum }),
  },
  // Newer vLLM, output too large for what is left.
  {
    pattern:
      /is too large: (\d+)\. This model's maximum context length is (\d+) tokens and your request has (\d+) input tokens/,
    read: ([output, maximum, input]) => ({ input, output, maximum }),
  },
  // OpenAI, and vLLM for input alone.
  {
    pattern: /maximum context length is (\d+) tokens\. However, your (?:messages|request|prompt|input)[^.]*?(\d+)/,
    read: ([maximum, input]) => ({ input, maximum }),
  },
  {
    pattern: /exceed the configured limit of (\d+) tokens\. Your messages resulted in (\d+) tokens/,
    read: ([maximum, input]) => ({ input, maximum }),
  },
  // SGLang.
  {
    pattern:
      /maximum context length of (\d+) tokens\. You requested a total of \d+ tokens: (\d+) tokens from the input messages and (\d+) tokens/,
    read: ([maximum, input, output]) => ({ input, output, maximum }),
  },
  {
    pattern: /input \((\d+) tokens\) is longer than the model's context length \((\d+) tokens\)/,
    read: ([input, maximum]) => ({ input, maximum }),
  },
  // llama.cpp.
  {
    pattern: /request \((\d+) tokens\) exceeds the available context size \((\d+) tokens\)/,
    read: ([input, maximum]) => ({ input, maximum }),
  },
  // Text Generation Inference.
  {
    pattern: /must be <= (\d+)\. Given: (\d+) `inputs` tokens and (\d+) `max_new_tokens`/,
    read: ([maximum, input, output]) => ({ input, output, maximum }),
  },
  // LM Studio, Ollama and others, of which at most the limit is known.
  { pattern: /loaded with context length of only (\d+) tokens/, read: ([maximum]) => ({ maximum }) },
  { pattern: /maximum context length (?:is|of) (\d+)/, read: ([maximum]) => ({ maximum }) },
  { pattern: /prompt is too long|input length exceeds|exceeds the available context size/, read: () => ({}) },
];

/** The counts in an upstream's sentence about a request that does not fit; undefined when it says something else. */
export function readOverflowText(sentence: string): Overflow | undefined {
  for (const { pattern, read } of texts) {
    const match = pattern.exec(sentence);
    if (match) return read(match.slice(1).map(Number));
  }
  return undefined;
}
