using System.Net;
using System.Security.Cryptography;
using System.Text;
using Cairn.Platform;
using Cairn.Server.Connections;
using Cairn.Server.Resp;
using Cairn.Server.Resp.Security;
using Cairn.Server.Tests.Testing;

namespace Cairn.Server.Tests.Resp;

/// <summary>A slow password check runs outside the worker: its connection waits, and all others are served.</summary>
public class SlowPasswordTests
{
    private const string Wrong = "-WRONGPASS invalid username-password pair or user is disabled.\r";
    private const string TooMany = "-ERR too many passwords are being checked. Try again.\r";

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    public static TheoryData<LoopUnderTest> Loops => Testing.Loops.Here;

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Others_of_the_same_worker_are_served_while_passwords_are_checked(LoopUnderTest loop)
    {
        await using StoreServer server = await StartAsync(out Gate held, loop);
        using Gate gate = held; // Opens before the server ends.
        using TestClient wrong = server.Connect(WireProtocol.Resp);
        using TestClient right = server.Connect(WireProtocol.Resp);
        using TestClient hello = server.Connect(WireProtocol.Resp);
        using TestClient other = server.Connect(WireProtocol.Resp);
        using TestClient memcached = server.Connect(WireProtocol.Memcached);

        wrong.Send(string.Concat(Enumerable.Range(0, 10).Select(i => $"PING {i}\r\nAUTH me wrong-{i}\r\n")));
        gate.UntilReached();
        right.Send("PING\r\nAUTH me right\r\nACL WHOAMI\r\nSET k v\r\nGET k\r\n");
        hello.Send("HELLO 2 AUTH me wrong SETNAME n\r\nCLIENT GETNAME\r\n");
        for (int i = 0; i < 200; i++)
        {
            other.Send($"PING {i}\r\nGET k\r\n");
            Assert.Equal($"${i.ToString().Length}\r", other.ReadLine());
            Assert.Equal($"{i}\r", other.ReadLine());
            Assert.Equal("$-1\r", other.ReadLine()); // The requests after AUTH in its pipeline were not executed.
            memcached.Send("mn\r\n");
            Assert.Equal("MN\r", memcached.ReadLine());
        }

        Assert.Equal("+PONG\r", right.ReadLine());
        Assert.Equal(0, right.Socket.Available);
        gate.Open();

        AssertLines(right, "+OK\r", "$2\r", "me\r", "+OK\r", "$1\r", "v\r");
        AssertLines(hello, Wrong, "$-1\r");
        for (int i = 0; i < 10; i++)
        {
            AssertLines(wrong, "$1\r", $"{i}\r", Wrong);
        }
    }

    [Fact]
    public async Task Passwords_of_one_address_are_limited_and_a_client_that_leaves_gives_its_place_back()
    {
        RespServer? resp = null;
        await using StoreServer server = await StartAsync(out Gate held, configure: served => resp = served);
        using Gate gate = held; // Opens before the server ends.
        PasswordChecks checks = resp!.Passwords;
        TestClient[] clients = [.. Enumerable.Range(0, PasswordChecks.MaxChecksOfAddress).Select(_ => server.Connect(WireProtocol.Resp))];
        using TestClient further = server.Connect(WireProtocol.Resp);
        for (int i = 0; i < clients.Length; i++)
        {
            clients[i].Send($"AUTH me wrong-{i}\r\n");
            Assert.True(SpinWait.SpinUntil(() => checks.Count == i + 1, Patience));
        }

        further.Send("AUTH me another\r\nPING\r\n");
        AssertLines(further, TooMany, "+PONG\r");
        further.Send("AUTH me wrong-5\r\n"); // The same check, so it takes no further place.
        clients[7].Dispose();
        Assert.True(SpinWait.SpinUntil(() => checks.Count == clients.Length - 1, Patience));
        clients[7] = server.Connect(WireProtocol.Resp);
        clients[7].Send("AUTH me right\r\n");
        Assert.True(SpinWait.SpinUntil(() => checks.Count == clients.Length, Patience));
        gate.Open();

        AssertLines(further, Wrong);
        for (int i = 0; i < clients.Length; i++)
        {
            AssertLines(clients[i], i == 7 ? "+OK\r" : Wrong);
            clients[i].Dispose();
        }

        Assert.Equal(0, checks.Count);
    }

    [Fact]
    public void Passwords_of_all_addresses_are_limited()
    {
        using var gate = new Gate();
        var checks = new PasswordChecks { Checking = gate.Pass };
        PasswordHash hash = PasswordHash.OfNobody(1);
        PasswordCheck[] begun = [.. Enumerable.Range(0, PasswordChecks.MaxChecks).Select(i => Begin(i)!)];

        Assert.DoesNotContain(null, begun);
        Assert.Null(Begin(PasswordChecks.MaxChecks));
        gate.Open();
        Assert.True(SpinWait.SpinUntil(() => Array.TrueForAll(begun, check => check.IsRight is not null), Patience));
        Assert.All(begun, check => Assert.False(check.IsRight));
        Assert.True(SpinWait.SpinUntil(() => checks.Count == 0, Patience));

        PasswordCheck? Begin(int i) =>
            checks.TryBegin(hash, Encoding.ASCII.GetBytes($"{i}"), new IPAddress([10, 0, 0, (byte)(i / PasswordChecks.MaxChecksOfAddress)]), static () => { });
    }

    [Fact]
    public void Password_is_refused_if_the_system_refuses_a_thread_and_checked_when_it_does_not()
    {
        var checks = new PasswordChecks();
        BackgroundThread.IsRefused = true;
        Assert.Null(checks.TryBegin(PasswordHash.OfNobody(1), "secret"u8, IPAddress.Loopback, static () => { }));
        Assert.Equal(0, checks.Count);

        BackgroundThread.IsRefused = false;
        PasswordCheck check = checks.TryBegin(PasswordHash.OfNobody(1), "secret"u8, IPAddress.Loopback, static () => { })!;
        Assert.True(SpinWait.SpinUntil(() => check.IsRight is not null, Patience));
    }

    [Fact]
    public async Task Clients_with_one_password_that_connect_at_once_cost_one_check()
    {
        await using StoreServer server = await StartAsync(out Gate held);
        using Gate gate = held; // Opens before the server ends.
        TestClient[] clients = [.. Enumerable.Range(0, 100).Select(_ => server.Connect(WireProtocol.Resp))];

        foreach (TestClient client in clients)
        {
            client.Send("PING\r\nAUTH me right\r\n");
            AssertLines(client, "+PONG\r");
        }

        gate.Open();
        foreach (TestClient client in clients)
        {
            AssertLines(client, "+OK\r");
            client.Dispose();
        }

        Assert.Equal(1, gate.Count);
    }

    [Theory]
    [MemberData(nameof(Loops))]
    public async Task Stop_does_not_wait_for_a_check(LoopUnderTest loop)
    {
        await using StoreServer server = await StartAsync(out Gate held, loop);
        using Gate gate = held; // Opens before the server ends.
        using TestClient client = server.Connect(WireProtocol.Resp);
        client.Send("PING\r\nAUTH me wrong\r\nPING\r\n");
        gate.UntilReached();

        await server.Engine.StopAsync(TimeSpan.FromSeconds(60));

        Assert.Equal("+PONG\r\n", client.ReadToEnd());
    }

    [Fact]
    public void Password_that_would_have_to_be_checked_in_a_transaction_is_refused_there()
    {
        using var host = new RespHost();
        host.Server.Users = Users();
        RespClient client = host.Connect();

        Assert.Equal(
            "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n-ERR this password is not checked in a transaction. Send AUTH before MULTI.\r\n$7\r\ndefault\r\n",
            client.Run("MULTI", "AUTH me right", "ACL WHOAMI", "EXEC"));
        Assert.Equal("+OK\r\n$2\r\nme\r\n", client.Run("AUTH me right", "ACL WHOAMI"));
    }

    [Fact]
    public void Users_that_change_while_a_password_is_checked_decide()
    {
        using var host = new RespHost();
        host.Server.Users = Users();
        host.Server.Passwords.Checking = () =>
        {
            host.Server.Passwords.Checking = null;
            host.Server.Users = RespUsers.Parse("default nopass read-write\nme " + Hash("other") + " read-write", "users");
        };

        Assert.Equal(Wrong + "\n", host.Connect().Run("AUTH me right"));
        Assert.Equal("+OK\r\n", host.Connect().Run("AUTH me other"));
    }

    private static void AssertLines(TestClient client, params string[] lines)
    {
        foreach (string line in lines)
        {
            Assert.Equal(line, client.ReadLine());
        }
    }

    private static Task<StoreServer> StartAsync(out Gate gate, LoopUnderTest? loop = null, Action<RespServer>? configure = null)
    {
        var made = gate = new Gate();
        return StoreServer.StartAsync(loop, configureResp: resp =>
        {
            resp.Users = Users();
            resp.Passwords.Checking = made.Pass;
            configure?.Invoke(resp);
        });
    }

    private static RespUsers Users() => RespUsers.Parse("default nopass read-write\nme " + Hash("right") + " read-write", "users");

    private static string Hash(string password) =>
        "pbkdf2:1000:c2FsdHNhbHQ=:" + Convert.ToBase64String(
            Rfc2898DeriveBytes.Pbkdf2(password, Convert.FromBase64String("c2FsdHNhbHQ="), 1000, HashAlgorithmName.SHA256, 32));

    // A check that takes until the test releases it.
    private sealed class Gate : IDisposable
    {
        private readonly object _lock = new();
        private bool _isOpen;
        private int _count;

        public int Count
        {
            get
            {
                lock (_lock)
                {
                    return _count;
                }
            }
        }

        public void Pass()
        {
            lock (_lock)
            {
                _count++;
                Monitor.PulseAll(_lock);
                while (!_isOpen)
                {
                    Monitor.Wait(_lock);
                }
            }
        }

        /// <summary>Waits until a check has begun.</summary>
        public void UntilReached()
        {
            lock (_lock)
            {
                while (_count == 0)
                {
                    Assert.True(Monitor.Wait(_lock, Patience));
                }
            }
        }

        public void Open()
        {
            lock (_lock)
            {
                _isOpen = true;
                Monitor.PulseAll(_lock);
            }
        }

        public void Dispose() => Open();
    }
}
