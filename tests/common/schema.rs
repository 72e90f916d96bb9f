//! A schema with every annotation that source/ reads, and no word of the real spec.

use purlin::source::Schema;
use serde_json::json;

pub fn schema() -> Schema {
    Schema::new(json!({
        "x-purlin-document": {"version": "purlin", "node": "node"},
        "type": "object",
        "required": ["apiVersion", "kind", "metadata", "spec"],
        "additionalProperties": false,
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"$ref": "#/$defs/Meta", "x-purlin-inline": true},
            "spec": {"$ref": "#/$defs/Spec", "x-purlin-inline": true}
        },
        "$defs": {
            "Meta": {
                "type": "object",
                "x-purlin-arguments": ["name"],
                "required": ["name"],
                "properties": {
                    "name": {"type": "string"},
                    "labels": {
                        "type": "object", "additionalProperties": {"type": "string"}, "x-purlin-node": "label"
                    }
                }
            },
            "Spec": {
                "type": "object",
                "properties": {
                    "shipLog": {"$ref": "#/$defs/Log"},
                    "harbors": {
                        "type": "object", "additionalProperties": {"$ref": "#/$defs/Harbor"},
                        "x-purlin-node": "harbor", "x-purlin-block": true
                    },
                    "count": {"type": "integer"},
                    "ratio": {"type": "number"},
                    "openSea": {"type": "boolean"},
                    "crew": {"type": "array", "items": {"type": "string"}, "x-purlin-node": "sailor"},
                    "ports": {"type": "array", "items": {"type": "integer"}, "x-purlin-node": "port"},
                    "anchor": {"$ref": "#/$defs/Anchor"},
                    "raft": {"$ref": "#/$defs/Raft"},
                    "extra": {"type": "object", "x-purlin-json": true}
                },
                "x-purlin-one-of": [["anchor", "raft"]]
            },
            "Log": {
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "maxLines": {"type": "integer"},
                    "flags": {
                        "type": "object", "additionalProperties": {"type": "boolean"}, "x-purlin-node": "flag"
                    }
                }
            },
            "Harbor": {
                "type": "object",
                "x-purlin-arguments": ["country"],
                "properties": {
                    "country": {"type": "string"},
                    "depth": {"type": "number"},
                    "isOpen": {"type": "boolean"},
                    "piers": {
                        "type": "array", "items": {"$ref": "#/$defs/Pier"}, "x-purlin-node": "pier"
                    },
                    "log": {"$ref": "#/$defs/Log"}
                }
            },
            "Pier": {
                "type": "object",
                "x-purlin-arguments": ["range", "words"],
                "properties": {
                    "range": {"type": "string"},
                    "words": {"type": "array", "items": {"type": "string"}, "x-purlin-node": "word"},
                    "gateway": {"type": "string"}
                }
            },
            "Anchor": {"type": "object", "properties": {"weight": {"type": "integer"}}},
            "Raft": {"type": "object", "properties": {}}
        }
    }))
}
