import { VOCABULARY } from './triples.ts';

/** The vocabulary of the graph in Turtle (W3C recommendation of 2014), as GET /vocab gives it. */
export const TURTLE = `@prefix : <${VOCABULARY}> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

:Packet a rdfs:Class ;
  rdfs:label "packet"@en ;
  rdfs:comment "A field observation or chat message, stored as received and never changed. Its IRI is urn:fieldtrace:packet: and its ULID."@en .

:Place a rdfs:Class ;
  rdfs:label "place"@en ;
  rdfs:comment "A field or a point that a GeoID identifies. Its IRI is urn:fieldtrace:geoid: and the GeoID."@en .

:Thread a rdfs:Class ;
  rdfs:label "thread"@en ;
  rdfs:comment "A conversation. Its IRI is urn:fieldtrace:thread: and its ULID."@en .

:User a rdfs:Class ;
  rdfs:label "user"@en ;
  rdfs:comment "Somebody who uses the service. Their IRI is urn:fieldtrace:user: and the user identifier."@en .

:type a rdf:Property ;
  rdfs:label "type"@en ;
  rdfs:comment "What kind of packet it is: note, chat_message, file_ref, weather, custom, or another word."@en ;
  rdfs:domain :Packet ;
  rdfs:range xsd:string .

:geoid a rdf:Property ;
  rdfs:label "GeoID"@en ;
  rdfs:comment "The field or point that it belongs to; more than one where fields overlap."@en ;
  rdfs:domain :Packet ;
  rdfs:range :Place .

:timestamp a rdf:Property ;
  rdfs:label "timestamp"@en ;
  rdfs:comment "When it was observed, or when the message was received."@en ;
  rdfs:domain :Packet ;
  rdfs:range xsd:dateTime .

:prev a rdf:Property ;
  rdfs:label "previous packet"@en ;
  rdfs:comment "The earlier packet that it continues or corrects."@en ;
  rdfs:domain :Packet ;
  rdfs:range :Packet .

:thread a rdf:Property ;
  rdfs:label "thread"@en ;
  rdfs:comment "The conversation that a message belongs to."@en ;
  rdfs:domain :Packet ;
  rdfs:range :Thread .

:sender a rdf:Property ;
  rdfs:label "sender"@en ;
  rdfs:comment "The user whose token it was sent with; without a token, who a message says sent it."@en ;
  rdfs:domain :Packet ;
  rdfs:range :User .

:attachment a rdf:Property ;
  rdfs:label "attachment"@en ;
  rdfs:comment "A file that it refers to: urn:fieldtrace:attachment: and its id for files kept here, otherwise the reference as a string."@en ;
  rdfs:domain :Packet ;
  rdfs:range rdfs:Resource .
`;
