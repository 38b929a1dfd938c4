#!/usr/bin/env bats
# shellcheck disable=SC2154 # lib/fabric sets the variables
# Programs of other projects, unmodified, between two nodes of a fabric: under vxrun, then over the
# plain interface. Each test checks what has arrived, and that nothing of it runs on.

load lib/common
load lib/fabric
load lib/apps

readonly one=192.168.20.1

setup() {
    skip_if_unavailable
    export report=$BATS_TEST_TMPDIR/report
}

# Also after a test that has failed.
teardown() {
    local name
    for name in "$dir"/*.pid; do
        name=$(basename "$name" .pid)
        [[ ! -s $dir/$name.pid || $name == up ]] || stop "$name"
    done
    # vsftpd refuses a folder that can be written to, and only root can remove one that cannot.
    [[ ! -d $dir/ftp ]] || chmod 755 "$dir/ftp"
    [[ -n ${TEST_UNAVAILABLE:-} ]] || { wait_until alone 1 && wait_until alone 3; }
}

@test "two nodes start" {
    ln -s "$(realpath "$spfe")" "$dir/vxrun"
    start up "$spfe" --json fabric up dist2-x8 --nodes --net 192.168.20.0/24
    wait_until all_ready
}

@test "vxrun: curl and nginx" {
    local www=$dir/www name
    needs nginx curl
    mkdir "$www" "$www/up"
    cp "$dir/file" "$www/file"
    cat >"$dir/nginx.conf" <<END
daemon off;
worker_processes 1;
pid $dir/nginx.process;
error_log stderr;
events { worker_connections 64; }
http {
    access_log off;
    sendfile on;
    client_max_body_size 0;
    client_body_temp_path $dir/body;
    proxy_temp_path $dir/proxy;
    fastcgi_temp_path $dir/fastcgi;
    uwsgi_temp_path $dir/uwsgi;
    scgi_temp_path $dir/scgi;
    server {
        listen $one:8080;
        root $www;
        location /up/ { dav_methods PUT; }
    }
}
END
    # shellcheck disable=SC2046 # words
    server nginx 1 $(user nginx -e stderr -p "$dir" -c "$dir/nginx.conf")
    wait_until answers 1 8080
    vx 3 curl --silent --show-error --fail --max-time 30 --parallel \
        --output "$dir/a" "http://$one:8080/file" --output "$dir/b" "http://$one:8080/file"
    for name in a b; do same "$(digest "$dir/file")" "$(digest "$dir/$name")"; done
    vx 3 curl --silent --show-error --fail --max-time 30 --upload-file "$dir/file" \
        "http://$one:8080/up/back"
    same "$(digest "$dir/file")" "$(digest "$www/up/back")"
    signal nginx
    ends nginx
    in_rings 10000000
}

@test "vxrun: redis-benchmark and redis-server" {
    needs redis-server redis-benchmark redis-cli
    server redis 1 redis-server --bind "$one" --port 6379 --save '' --appendonly no \
        --protected-mode no --dir "$dir"
    wait_until answers 1 6379
    vx 3 redis-benchmark -h "$one" -t set,get,lpush -n 4000 -c 8 -d 1000 -r 100 --csv >"$dir/redis.csv"
    same 4 "$(wc -l <"$dir/redis.csv")"
    # A hundred keys and the list.
    same 101 "$(vx 3 redis-cli -h "$one" dbsize)"
    same 4000 "$(vx 3 redis-cli -h "$one" llen mylist)"
    same OK "$(vx 3 redis-cli -h "$one" -x set big <"$dir/file")"
    # It ends the value with a new line.
    vx 3 redis-cli -h "$one" --raw get big | head -c -1 | cmp - "$dir/file"
    vx 3 redis-cli -h "$one" shutdown nosave
    ends redis
    in_rings 10000000
}

@test "vxrun: pgbench and PostgreSQL" {
    local PGHOST=$one PGUSER=postgres PGDATABASE=postgres PATH=$PATH
    PATH+=$(printf ':%s' /usr/lib/postgresql/*/bin)
    export PATH PGHOST PGUSER PGDATABASE
    needs initdb postgres pgbench psql
    # shellcheck disable=SC2046 # words
    $(user initdb) --no-sync --auth=trust --no-locale --encoding=UTF8 --username=postgres \
        --pgdata="$dir/pg" >"$dir/initdb"
    printf 'host all all 192.168.20.0/24 trust\n' >>"$dir/pg/pg_hba.conf"
    # shellcheck disable=SC2046 # words
    server postgres 1 $(user postgres) -D "$dir/pg" -c "listen_addresses=$one" \
        -c unix_socket_directories= -c fsync=off -c shared_buffers=16MB
    wait_until on 3 pg_isready --quiet
    vx 3 pgbench --quiet --initialize --scale=1 2>"$dir/pgbench"
    vx 3 pgbench --client=3 --jobs=2 --transactions=80 >>"$dir/pgbench"
    # What the clients have booked is what the accounts have.
    same '240|t|100000' "$(vx 3 psql -qAt -c 'select count(*),
        sum(delta) = (select sum(abalance) from pgbench_accounts),
        (select count(*) from pgbench_accounts) from pgbench_history')"
    seq 1 50000 >"$dir/numbers"
    vx 3 psql -qAt -c 'create table t (n int)' -c "\\copy t from '$dir/numbers'"
    vx 3 psql -qAt -c "copy (select n, repeat('x', n % 1000) from t order by n) to stdout" |
        awk '$1 != NR || length($2) != NR % 1000 { exit 1 } END { exit NR != 50000 }'
    signal postgres INT
    ends postgres
    in_rings 1000000
}

@test "vxrun: ssh, scp and sshd" {
    local folder=$dir/ssh kind shell private
    needs sshd ssh scp
    shell=$(getent passwd "$EUID" | cut -d : -f 7)
    [[ -n $shell && $shell != */nologin && $shell != */false ]] ||
        skip "user $EUID has no shell, so sshd refuses the login"
    # sshd as root changes to other users, which only the real root has.
    private=(unshare --mount tests/lib/private.sh)
    ((EUID == 0)) || private=(unshare --user "--map-user=$EUID" "--map-group=$(id -g)")
    mkdir "$folder"
    for kind in host key; do ssh-keygen -q -t ed25519 -N '' -f "$folder/$kind"; done
    cat >"$folder/server" <<END
ListenAddress $one:2222
HostKey $folder/host
AuthorizedKeysFile $folder/key.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin yes
Subsystem sftp internal-sftp
END
    cat >"$folder/client" <<END
Port 2222
User $(id -un)
IdentityFile $folder/key
IdentitiesOnly yes
UserKnownHostsFile $folder/known
GlobalKnownHostsFile /dev/null
StrictHostKeyChecking yes
END
    printf '[%s]:2222 %s\n' "$one" "$(cut -d ' ' -f 1,2 "$folder/host.pub")" >"$folder/known"
    # With -r, a process of sshd serves the connection that it was forked with. A program that it
    # started would get a connection of another program, which stays on TCP.
    server sshd 1 "${private[@]}" /usr/sbin/sshd -D -e -r -f "$folder/server"
    wait_until answers 1 2222
    vx 3 ssh -F "$folder/client" "$one" cat "$dir/file" | cmp - "$dir/file"
    vx 3 scp -q -F "$folder/client" "$dir/file" "$one:$folder/there"
    vx 3 scp -q -F "$folder/client" "$one:$folder/there" "$folder/back"
    cmp "$dir/file" "$folder/there"
    cmp "$dir/file" "$folder/back"
    stop sshd
    # Two processes of sshd share the connection of an ordinary user, which so stays on TCP.
    ((EUID != 0)) || in_rings 60000000
}

@test "iperf" {
    needs iperf
    plain iperf 1 iperf --server --bind "$one" --port 5001 --reportstyle C
    wait_until answers 1 5001
    on 3 iperf --client "$one" --port 5001 --num 200M --reportstyle C >"$dir/iperf"
    comment "TCP: $(cut -d , -f 9 "$dir/iperf" | tail -n 1) bit/s"
    wait_until grep -q ',209715200,' "$dir/iperf.out"
    stop iperf
    plain iperf 1 iperf --server --udp --bind "$one" --port 5001 --reportstyle C
    wait_until hears 1 5001
    on 3 iperf --client "$one" --port 5001 --udp --num 2M --bandwidth 50M --reportstyle C >"$dir/iperf"
    wait_until grep -q , "$dir/iperf.out"
    stop iperf
    # Datagrams: how many were lost, of how many.
    comment "UDP: lost, of: $(cut -d , -f 11,12 "$dir/iperf.out")"
    grep -qE '^([^,]*,){10}[0-9]{1,2},14[0-9]{2},' "$dir/iperf.out"
}
hears() { on "$1" ss -Hlun "sport = :$2" | grep -q .; }

@test "ftp" {
    local ftp=$dir/ftp
    needs vsftpd inetutils-ftp
    mkdir -p "$ftp/up"
    cp "$dir/file" "$ftp/file"
    chmod 555 "$ftp"
    cat >"$dir/vsftpd.conf" <<END
listen=YES
listen_address=$one
listen_port=2121
background=NO
run_as_launching_user=YES
anonymous_enable=YES
anon_root=$ftp
no_anon_password=YES
write_enable=YES
anon_upload_enable=YES
anon_umask=022
seccomp_sandbox=NO
END
    # shellcheck disable=SC2046 # words
    plain ftp 1 $(user vsftpd "$dir/vsftpd.conf")
    wait_until answers 1 2121
    printf '%s\n' 'user anonymous x' binary "get file $dir/ftp.got" 'cd up' "put $dir/file back" bye |
        on 3 inetutils-ftp -n "$one" 2121
    cmp "$dir/file" "$dir/ftp.got"
    cmp "$dir/file" "$ftp/up/back"
    stop ftp
}

@test "telnet" {
    needs inetutils-telnet inetutils-inetd telnetd
    # A session in place of a login. It waits for a last line, because telnetd
    # drops what it has not sent yet when its session ends.
    cat >"$dir/session" <<'END'
#!/bin/sh
stty -echo
printf 'name: '
read -r name
seq 1 20000
echo "good bye, $name"
read -r name
END
    chmod +x "$dir/session"
    printf '%s:2323 stream tcp nowait root /usr/sbin/telnetd telnetd -h -E %s\n' \
        "$one" "$dir/session" >"$dir/inetd.conf"
    plain inetd 1 unshare --mount tests/lib/private.sh inetutils-inetd -d "$dir/inetd.conf"
    wait_until answers 1 2323
    on 3 python3 -I -c 'import subprocess, sys
pipe = subprocess.PIPE
telnet = subprocess.Popen(sys.argv[1:], stdin=pipe, stdout=pipe, bufsize=0)
def until(end):
    seen = b""
    while not seen.endswith(end):
        byte = telnet.stdout.read(1)
        if not byte:
            sys.exit("ended before %r: %r" % (end, seen[-80:]))
        seen += byte
    return seen
until(b"name: ")
telnet.stdin.write(b"node3\n")
sys.stdout.buffer.write(until(b"good bye, node3\r\n"))
telnet.stdin.write(b"\n")
sys.stdout.buffer.write(telnet.stdout.read())' inetutils-telnet -E "$one" 2323 |
        tr -d '\r' >"$dir/telnet"
    { seq 1 20000 && echo 'good bye, node3'; } >"$dir/expected"
    grep -v '^$' "$dir/telnet" | head -n 20001 | diff - "$dir/expected"
    stop inetd
}

@test "NFS" {
    local folder=$dir/exported where
    needs ganesha.nfsd rpcbind nfs-cp
    ((EUID == 0)) || skip 'rpcbind changes to a user of its own, which takes root'
    mkdir "$folder"
    cat >"$dir/ganesha.conf" <<END
NFS_CORE_PARAM {
    Protocols = 3;
    NFS_Port = 2049;
    MNT_Port = 20048;
    Enable_NLM = false;
    Enable_RQUOTA = false;
    Enable_UDP = false;
    Bind_addr = $one;
}
EXPORT {
    Export_Id = 1;
    Path = $folder;
    Pseudo = /exported;
    Access_Type = RW;
    Squash = No_Root_Squash;
    SecType = sys;
    Protocols = 3;
    FSAL { Name = VFS; }
}
END
    # shellcheck disable=SC2016 # the inner shell expands these
    plain nfs 1 unshare --mount tests/lib/private.sh sh -c 'rpcbind -f -w -h "$1" & names=$!
        ganesha.nfsd -F -L STDERR -f "$2/ganesha.conf" -p "$2/ganesha.process"
        kill "$names"; wait' sh "$one" "$dir"
    wait_until answers 1 2049
    wait_until answers 1 20048
    where="nfs://$one$folder/back?version=3&nfsport=2049&mountport=20048"
    wait_until on 3 nfs-ls "${where/\/back/}"
    on 3 nfs-cp "$dir/file" "$where"
    on 3 nfs-cp "$where" "$dir/nfs.got"
    cmp "$dir/file" "$folder/back"
    cmp "$dir/file" "$dir/nfs.got"
    kill "$(<"$dir/ganesha.process")"
    ends nfs
}
