import { rerankFormat } from '#shared/formats/rerank/rerank-format.ts';
import type { HttpUpstreamFormat } from '../../upstream-format.ts';
import { readChatError } from '../chat/upstream-error.ts';

/** Document ranking, as Cohere, Jina, vLLM, SGLang and llama.cpp serve it. */
export const rerankUpstream: HttpUpstreamFormat = {
  name: 'rerank',
  operation: 'rank',
  path: '/rerank',
  headers: {},
  estimateInput: (request) => rerankFormat.estimateInput(request),
  readError: readChatError,
};
