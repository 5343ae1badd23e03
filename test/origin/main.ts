import { calm, drawMood, originCredentials, randomOf, SimulatedOrigin } from './origin.ts';

// `node test/origin/main.ts [PORT] [COUNT] [SEED]` serves a simulated origin, and prints the
// credentials file of 'subreport login'. With a seed, its mood is drawn at random.
const [port, count, seed] = process.argv.slice(2).map(Number);
const mood = seed === undefined ? { ...calm, changes: 0.05 } : drawMood(randomOf(seed));
const origin = new SimulatedOrigin(seed ?? 1, mood, count ?? 2_000);
const url = await origin.listen(port ?? 0);
const { clientId: client_id, clientSecret: client_secret } = originCredentials;
console.log(JSON.stringify({ base_url: `${url}/connect-api`, token_url: `${url}/token`, client_id, client_secret }));
