#!/bin/sh
# Makes the certificates of one Dask cluster: an authority of its own, and one certificate that
# scheduler, workers and Roofline share. Whoever has the key can run programs on the cluster: keep the
# folder to yourself, and make new ones for each job or each month.
#
#   dask-certificates.sh FOLDER [DAYS]
set -eu
folder=$1
days=${2:-30}
umask 077
mkdir -p "$folder"
cd "$folder"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days "$days" \
    -subj "/CN=Roofline's own authority" -keyout ca-key.pem -out ca.pem 2>/dev/null
openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
    -subj "/CN=roofline-dask" -keyout key.pem -out request.pem 2>/dev/null
openssl x509 -req -in request.pem -CA ca.pem -CAkey ca-key.pem -CAcreateserial -days "$days" \
    -out cert.pem 2>/dev/null
# Without the authority's key nobody can make another certificate that the cluster accepts.
rm -f ca-key.pem request.pem ca.srl
