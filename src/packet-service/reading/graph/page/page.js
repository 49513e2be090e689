// Draws the packets around one GeoID or packet out of POST /graph/materialize: what they share becomes a node.
const KINDS = {
  packet: { name: 'packet', colour: '#1f6f4a', shape: 'ellipse' },
  geoid: { name: 'GeoID', colour: '#c8791b', shape: 'hexagon' },
  thread: { name: 'thread', colour: '#2f5f9e', shape: 'round-rectangle' },
  sender: { name: 'sender', colour: '#8b3d88', shape: 'diamond' },
  attachment: { name: 'attachment', colour: '#6d7570', shape: 'rectangle' },
};
const OUTLINES = {
  ellipse: '<circle cx="8" cy="8" r="7"/>',
  hexagon: '<path d="M4 1h8l4 7-4 7H4L0 8z"/>',
  'round-rectangle': '<rect y="2" width="16" height="12" rx="3"/>',
  diamond: '<path d="m8 0 8 8-8 8-8-8z"/>',
  rectangle: '<rect x="1" y="1" width="14" height="14"/>',
};
/** Predicates whose object is a node of its own, by the kind of that node. */
const LINKS = {
  'packet:geoid': 'geoid',
  'packet:thread': 'thread',
  'packet:sender': 'sender',
  'packet:attachment': 'attachment',
  'packet:prev': 'packet',
};
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i;

const form = document.querySelector('form');
const status = document.querySelector('[role=status]');
const chosen = document.querySelector('#chosen');
const list = document.querySelector('#packets');
let drawing;

for (const { name, colour, shape } of Object.values(KINDS)) {
  const item = document.createElement('li');
  item.innerHTML = `<svg viewBox="0 0 16 16" fill="${colour}" aria-hidden="true">${OUTLINES[shape]}</svg>`;
  item.append(name);
  document.querySelector('#legend').append(item);
}

form.addEventListener('submit', async event => {
  event.preventDefault();
  const { around, limit } = Object.fromEntries(new FormData(form));
  history.replaceState(null, '', around ? `?around=${encodeURIComponent(around)}&limit=${limit}` : '?');
  say('…');
  try {
    draw(await load(around.trim(), Number(limit)), Number(limit));
  } catch (error) {
    say(error.message, true);
  }
});

const asked = new URLSearchParams(location.search);
form.around.value = asked.get('around') ?? asked.get('packet') ?? asked.get('geoid') ?? '';
if (asked.has('limit')) form.limit.value = asked.get('limit');
form.requestSubmit();

/** The triples around a GeoID, around a packet and its GeoIDs, or of the newest packets. */
async function load(around, limit) {
  if (around === '') return materialize({ limit });
  if (!ULID.test(around)) return materialize({ geoid: around, limit });
  const own = await materialize({ packet_id: around.toUpperCase() });
  const geoids = own.filter(({ predicate }) => predicate === 'packet:geoid').map(({ object }) => object);
  const neighbours = await Promise.all(geoids.slice(0, 5).map(geoid => materialize({ geoid, limit })));
  return [...own, ...neighbours.flat()];
}

async function materialize(filter) {
  const token = form.token.value.trim();
  const answer = await fetch('graph/materialize', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(filter),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(JSON.parse(text).error);
  return text
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line));
}

/** Nodes and edges; each node keeps the plain facts that the triples tell of it. */
function read(triples) {
  const nodes = new Map();
  const edges = new Map();
  const node = (kind, name) => {
    const id = `${kind} ${name}`;
    if (!nodes.has(id)) nodes.set(id, { id, kind, name, facts: [] });
    return nodes.get(id);
  };
  for (const { subject, predicate, object } of triples) {
    const packet = node('packet', subject);
    const kind = LINKS[predicate];
    if (kind) {
      const target = node(kind, object);
      const id = `${packet.id} ${predicate} ${target.id}`;
      edges.set(id, { id, source: packet.id, target: target.id });
    } else if (predicate !== 'rdf:type') {
      const label = predicate.slice('packet:'.length);
      if (!packet.facts.some(([known]) => known === label)) packet.facts.push([label, object]);
    }
  }
  return { nodes: [...nodes.values()], edges: [...edges.values()] };
}

function draw(triples, limit) {
  const { nodes, edges } = read(triples);
  const packets = nodes.filter(({ kind, facts }) => kind === 'packet' && facts.length > 0);
  const more = packets.length >= limit ? `; only the newest ${limit} are drawn` : '';
  say(packets.length === 0 ? 'There are no packets here.' : `${packets.length} packets${more}.`);
  drawing?.destroy();
  drawing = cytoscape({
    container: document.querySelector('#drawing'),
    elements: [...nodes, ...edges].map(data => ({ data: { ...data, label: labelOf(data) } })),
    style: styles(),
    layout: {
      name: 'cose',
      animate: false,
      nodeDimensionsIncludeLabels: true,
      nodeRepulsion: () => 9000,
      padding: 30,
    },
    minZoom: 0.1,
    maxZoom: 3,
  });
  drawing.on('tap', 'node', event => show(event.target.data()));
  list.replaceChildren(...packets.sort((a, b) => timeOf(b) - timeOf(a)).map(listed));
  chosen.replaceChildren(paragraph('Choose a node to see what it is.'));
}

function styles() {
  const common = {
    label: 'data(label)',
    'font-size': 11,
    color: '#1d2b24',
    'text-valign': 'bottom',
    'text-margin-y': 4,
    'text-outline-color': '#f8faf8',
    'text-outline-width': 2,
    'min-zoomed-font-size': 7,
    width: 22,
    height: 22,
  };
  return [
    { selector: 'node', style: common },
    ...Object.entries(KINDS).map(([kind, { colour, shape }]) => ({
      selector: `node[kind = "${kind}"]`,
      style: { 'background-color': colour, shape, ...(kind !== 'packet' && { width: 30, height: 30 }) },
    })),
    { selector: 'edge', style: { width: 1.2, 'line-color': '#b9c6bf', 'curve-style': 'haystack' } },
    { selector: 'node:selected', style: { 'border-width': 4, 'border-color': '#111' } },
  ];
}

/** When a packet was, in milliseconds. */
function timeOf({ facts }) {
  return Date.parse(facts.find(([label]) => label === 'timestamp')?.[1]);
}

/** What stands under a node: long names by their two ends. */
function labelOf({ kind, name, facts }) {
  if (!name) return '';
  const type = kind === 'packet' ? facts.find(([label]) => label === 'type')?.[1] : undefined;
  return type ?? (name.length > 18 ? `${name.slice(0, 8)}…${name.slice(-6)}` : name);
}

function listed(packet) {
  const item = document.createElement('li');
  const button = document.createElement('button');
  button.type = 'button';
  button.dataset.id = packet.id;
  button.setAttribute('aria-pressed', 'false');
  button.textContent = [packet.facts.find(([label]) => label === 'timestamp')?.[1], labelOf(packet)].join(
    ' · ',
  );
  button.addEventListener('click', () => {
    show(packet);
    drawing.animate({ center: { eles: drawing.getElementById(packet.id) }, duration: 200 });
  });
  item.append(button);
  return item;
}

function show({ id, kind, name, facts }) {
  drawing.nodes().unselect();
  drawing.getElementById(id).select();
  for (const button of list.querySelectorAll('button')) {
    button.setAttribute('aria-pressed', String(button.dataset.id === id));
  }
  const title = document.createElement('h2');
  title.textContent = KINDS[kind].name;
  const details = document.createElement('dl');
  for (const [label, value] of [['name', name], ...facts]) {
    const term = document.createElement('dt');
    const description = document.createElement('dd');
    term.textContent = label;
    description.textContent = value;
    details.append(term, description);
  }
  chosen.replaceChildren(title, details, ...linksOf(kind, name));
}

function linksOf(kind, name) {
  const links = [];
  if (kind === 'packet') links.push(link(`packets/${encodeURIComponent(name)}`, 'The packet itself'));
  if (kind === 'packet' || kind === 'geoid') {
    links.push(
      link(`graph?around=${encodeURIComponent(name)}&limit=${form.limit.value}`, 'Draw what is around it'),
    );
  }
  return links.map(anchor => {
    const line = document.createElement('p');
    line.append(anchor);
    return line;
  });
}

function link(href, text) {
  const anchor = document.createElement('a');
  anchor.href = href;
  anchor.textContent = text;
  return anchor;
}

function paragraph(text) {
  const element = document.createElement('p');
  element.textContent = text;
  return element;
}

function say(text, wrong = false) {
  status.textContent = text;
  status.classList.toggle('wrong', wrong);
}
