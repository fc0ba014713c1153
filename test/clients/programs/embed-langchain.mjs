import { OpenAIEmbeddings } from '@langchain/openai';

const embeddings = new OpenAIEmbeddings({ model: process.env.CLIENT_MODEL });
const [first, same, other] = await embeddings.embedDocuments(['the red tree', 'the red tree', 'a blue river']);
const equal = (one) => JSON.stringify(first) === JSON.stringify(one);
console.log(JSON.stringify({ dimensions: first.length, same: equal(same), other: equal(other) }));
