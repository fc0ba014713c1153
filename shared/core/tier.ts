/** The tiers of workers. */
export const tiers = ['gpu', 'cli', 'cloud', 'tools'] as const;
export type Tier = (typeof tiers)[number];

/** The tiers whose workers have models, in the order in which `auto` tries them. */
export const modelTiers = ['gpu', 'cli', 'cloud'] as const;
