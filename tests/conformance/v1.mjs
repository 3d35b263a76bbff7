// A client of the TypeScript SDK's first generation. Usage: node v1.mjs URL [TOKEN]
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { story } from "./story.mjs";

const [url, token] = process.argv.slice(2);
const requestInit = token ? { headers: { Authorization: `Bearer ${token}` } } : undefined;
const client = new Client({ name: "typescript-v1", version: "1" });
const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit });
await client.connect(transport);
await story(client, transport.protocolVersion);
