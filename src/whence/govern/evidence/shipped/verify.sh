#!/bin/sh
# Verifies an evidence pack of Whence: sh verify.sh DIRECTORY KEY.pem
#
# KEY.pem is the public key of the Whence that made the pack. Take it from there, never from the pack.
# Needs sh, jq 1.6, openssl 3 (for an Ed25519 key; 1.1 for P-256), and base64, sha256sum, mktemp and rm of GNU coreutils.
set -eu
LC_ALL=C
export LC_ALL

fail() {
    printf 'NOT VERIFIED: %s\n' "$1" >&2
    exit 1
}

if [ $# -ne 2 ]; then
    printf 'Usage: sh verify.sh DIRECTORY KEY.pem\n' >&2
    exit 2
fi
pack=$1 key=$2 envelope=$1/evidence.dsse.json
[ -d "$pack" ] || fail "$pack is no directory"
[ -f "$envelope" ] && [ ! -L "$envelope" ] || fail 'evidence.dsse.json is missing'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The envelope is written in one way only, so that no byte of it can change unnoticed.
is_base64() { [ "$(printf '%s' "$1" | base64 -d 2>/dev/null | base64 -w 0)" = "$1" ]; }
[ "$(jq -cS . "$envelope" 2>/dev/null | sha256sum)" = "$(sha256sum <"$envelope")" ] || fail 'evidence.dsse.json was changed'
jq -es 'length == 1 and (.[0] | keys == ["payload", "payloadType", "signatures"] and (.signatures | length == 1))
    and (.[0].signatures[0] | keys == ["keyid", "sig"])' "$envelope" >"$work/null" || fail 'it is not signed by one key'
payload=$(jq -r .payload "$envelope") signature=$(jq -r '.signatures[0].sig' "$envelope")
is_base64 "$payload" && is_base64 "$signature" || fail 'evidence.dsse.json was changed'
printf '%s' "$payload" | base64 -d >"$work/statement"
printf '%s' "$signature" | base64 -d >"$work/signature"

# The signature, of DSSE's encoding of the statement.
type=application/vnd.in-toto+json
[ "$(jq -r .payloadType "$envelope")" = "$type" ] || fail 'the envelope has another type of payload'
size=$(jq -r '.payload | @base64d | utf8bytelength' "$envelope")
{ printf 'DSSEv1 %d %s %d ' "${#type}" "$type" "$size"; printf '%s' "$payload" | base64 -d; } >"$work/signed"
openssl pkey -pubin -in "$key" -outform DER -out "$work/key" 2>"$work/null" || fail "$key is no public key in PEM"
id=$(sha256sum <"$work/key") id=${id%% *}
[ "$(jq -r '.signatures[0].keyid' "$envelope")" = "$id" ] || fail "it is not signed by the key $id"
case $(openssl pkey -pubin -in "$key" -noout -text) in
*[Ee][Dd]25519*) openssl pkeyutl -verify -pubin -inkey "$key" -rawin -in "$work/signed" -sigfile "$work/signature" ;;
*) openssl dgst -sha256 -verify "$key" -signature "$work/signature" "$work/signed" ;;
esac >"$work/null" 2>&1 || fail 'the signature does not fit: the statement was changed'
jq -e '._type == "https://in-toto.io/Statement/v1"
    and .predicateType == "https://github.com/whence-lineage/whence/evidence/v1"' "$work/statement" >"$work/null" ||
    fail 'the statement is not about a pack of this version'

# The files: those that the statement names, and no others.
names=$(jq -r '.subject[].name' "$work/statement")
for path in "$pack"/* "$pack"/.[!.]* "$pack"/..?*; do
    [ -e "$path" ] || [ -L "$path" ] || continue
    name=${path##*/}
    [ -f "$path" ] && [ ! -L "$path" ] || fail "$name is no plain file"
    case $name in
    evidence.dsse.json) continue ;;
    *[!A-Za-z0-9._-]*) fail "$name is not part of the pack" ;;
    esac
    case "
$names
" in
    *"
$name
"*) ;;
    *) fail "$name is not part of the pack" ;;
    esac
done
jq -r '.subject[] | "\(.digest.sha256)  \(.name)"' "$work/statement" >"$work/sums"
(cd "$pack" && sha256sum --check --strict --quiet "$work/sums") >&2 || fail 'a file was changed'

# The events: the hash of them all, and of each that was cut the hash of what is left with the hashes of what is not.
hash_of() { jq -rj 'select(.hash != null) | "\(.event) \(.hash)\n"' "$1" | sha256sum; }
stated="$(jq -r .predicate.events.hash "$work/statement")  -"
[ "$(hash_of "$pack/events.jsonl")" = "$stated" ] || fail 'events.jsonl has other events than the statement'
[ "$(hash_of "$pack/leaves.jsonl")" = "$stated" ] || fail 'leaves.jsonl has other events than the statement'
jq -c 'select(.leaves)' "$pack/leaves.jsonl" >"$work/cut"
while IFS= read -r event; do
    printf '%s' "$event" | jq -r '.leaves[]' >"$work/lines"
    while IFS= read -r line; do
        hash=$(printf '%s\n' "$line" | sha256sum)
        printf '%s\n' "${hash%% *}"
    done <"$work/lines" >"$work/shown"
    found=$(printf '%s' "$event" | jq -rj --rawfile shown "$work/shown" \
        '($shown | split("\n") | map(select(. != ""))) + .hashes | sort[] | "\(.)\n"' | sha256sum)
    [ "${found%% *}" = "$(printf '%s' "$event" | jq -r .hash)" ] || fail 'an event in leaves.jsonl was changed'
done <"$work/cut"

# The heads of the logs: each names the hash of the one before, and the statement names the last.
if [ "$(jq '.predicate.heads.shown // false' "$work/statement")" = true ]; then
    before=null count=0
    while IFS= read -r head; do
        printf '%s' "$head" | jq -r .payload | base64 -d >"$work/head" || fail 'heads.jsonl has a line that is no head'
        [ "$(jq -r .predicate.previous "$work/head")" = "$before" ] || fail 'a head in heads.jsonl does not follow the one before it'
        before=$(sha256sum <"$work/head") before=${before%% *} count=$((count + 1))
    done <"$pack/heads.jsonl"
    [ "$(jq -r '.predicate.heads | "\(.count) \(.last)"' "$work/statement")" = "$count $before" ] ||
        fail 'heads.jsonl does not end with the head that the statement names'
fi

printf 'Verified: %s files, signed by the key %s\n' "$(jq '.subject | length' "$work/statement")" "$id"
jq -r '.predicate | "Upstream of \(.question.node | tojson), as of \(.question.as_of)\n" +
    "complete: \(.completeness.complete), hidden nodes: \(.completeness.hidden_nodes), " +
    "events: \(.events.whole) whole, \(.events.cut) cut, \(.events.missing) missing, \(.events.hidden) hidden\n" +
    "heads of the logs: \(.heads.count // 0)"' \
    "$work/statement"
