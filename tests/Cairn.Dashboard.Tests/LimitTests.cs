using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Text.Json;
using Cairn.Dashboard.Tests.Serving;

namespace Cairn.Dashboard.Tests;

/// <summary>The limits over HTTP: when one is reached, other clients are served, and capacity returns.</summary>
public sealed class LimitTests
{
    private const string Token = "X-Cairn-Token";
    private const int Connections = 256;
    private const int BodyBytes = 256 << 10;

    [Fact]
    public async Task Silent_and_slow_http_clients_keep_out_neither_a_health_check_nor_metrics()
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync();
        server.Send("SET", "k", "v");
        Socket[] clients = [.. Enumerable.Range(0, Connections).Select(_ => Connect(server))];
        string[] beginnings =
        [
            "", "GET /metrics HTTP/1.1\r\nHost: loc", "POST /api/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 200000\r\n\r\n{",
        ];
        for (int i = 0; i < clients.Length; i++)
        {
            await clients[i].SendAsync(Encoding.ASCII.GetBytes(beginnings[i % beginnings.Length]));
        }

        for (int i = 0; i < 3; i++)
        {
            using Socket further = Connect(server);
            Assert.True(IsAnswered(server, further));
            using var browser = new HttpClient();
            Assert.Equal(HttpStatusCode.OK, (await browser.GetAsync(new Uri(server.Address, "/metrics"))).StatusCode);
        }

        Assert.Equal("$1\r\nv\r\n", server.Ask("GET", "k"));
        Assert.Empty(server.Errors);
        Array.ForEach(clients, client => client.Dispose());
    }

    [Fact]
    public async Task Http_client_beyond_the_limit_replaces_the_one_whose_last_request_is_oldest()
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync();
        Socket[] clients = [.. Enumerable.Range(0, Connections).Select(_ => Connect(server))];
        Assert.All(clients, client => Assert.True(IsAnswered(server, client)));
        Assert.True(IsAnswered(server, clients[0]));

        using Socket further = Connect(server);

        Assert.True(IsAnswered(server, further));
        Assert.False(IsAnswered(server, clients[1]));
        Assert.All(clients.Where((_, i) => i != 1), client => Assert.True(IsAnswered(server, client)));
        Array.ForEach(clients, client => client.Dispose());
    }

    [Fact]
    public async Task Body_beyond_the_limit_is_refused_and_not_held()
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync();
        string body = new('x', BodyBytes + 1);
        (_, JsonElement session) = await server.AskAsync(HttpMethod.Get, "/api/session");
        string token = session.GetProperty("token").GetString()!;

        for (int i = 0; i < 20; i++)
        {
            Assert.Equal("HTTP/1.1 413", Post(server, token, $"Content-Length: {body.Length}\r\n\r\n"));
            Assert.Equal("HTTP/1.1 413", Post(server, token, $"Transfer-Encoding: chunked\r\n\r\n{body.Length:x}\r\n{body}\r\n"));
        }

        (HttpStatusCode status, _) = await server.AskAsync(HttpMethod.Post, "/api/value", new { id = ServedDashboard.Id("nothing") }, headers => headers.Add(Token, token));
        Assert.Equal(HttpStatusCode.NotFound, status);
        Assert.Empty(server.Errors);
    }

    [Fact]
    public async Task Wrong_logins_wait_for_each_other_and_delay_no_other_visitor()
    {
        const int Wrong = 6;
        await using ServedDashboard server = await ServedDashboard.StartWithUsersAsync();
        Task<HttpStatusCode>[] wrong = [.. Enumerable.Range(0, Wrong).Select(async i =>
            (await server.AskAsync(HttpMethod.Get, "/api/live", headers: headers => headers.Authorization = ServedDashboard.Basic($"unknown-{i}"))).Status)];

        Assert.Equal("+OK\r\n", server.Ask("AUTH", "admin", "admin"));
        Assert.Equal(HttpStatusCode.OK, (await server.AskAsync(HttpMethod.Get, "/health/live")).Status);
        Assert.All(await Task.WhenAll(wrong), status => Assert.Equal(HttpStatusCode.Unauthorized, status));
        (HttpStatusCode right, _) = await server.AskAsync(HttpMethod.Get, "/api/live", headers: headers => headers.Authorization = ServedDashboard.Basic("admin"));
        Assert.Equal(HttpStatusCode.OK, right);
    }

    private static Socket Connect(ServedDashboard server)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true, ReceiveTimeout = 30_000 };
        socket.Connect(IPAddress.Loopback, server.Address.Port);
        return socket;
    }

    // Sends headers and a body unchanged. Returns the beginning of the answer, which can arrive before the server has read the body.
    private static string Post(ServedDashboard server, string token, string rest)
    {
        using Socket client = Connect(server);
        client.Send(Encoding.ASCII.GetBytes(
            $"POST /api/value HTTP/1.1\r\nHost: localhost:{server.Address.Port}\r\nContent-Type: application/json\r\n{Token}: {token}\r\n{rest}"));
        byte[] status = new byte["HTTP/1.1 413".Length];
        int read = 0;
        int count;
        while (read < status.Length && (count = client.Receive(status, read, status.Length - read, SocketFlags.None)) > 0)
        {
            read += count;
        }

        return Encoding.ASCII.GetString(status, 0, read);
    }

    private static bool IsAnswered(ServedDashboard server, Socket client)
    {
        try
        {
            client.Send(Encoding.ASCII.GetBytes($"GET /health/live HTTP/1.1\r\nHost: localhost:{server.Address.Port}\r\n\r\n"));
            var reply = new StringBuilder();
            byte[] buffer = new byte[4096];
            while (!reply.ToString().Contains("live\n", StringComparison.Ordinal))
            {
                int count = client.Receive(buffer);
                if (count == 0)
                {
                    return false;
                }

                reply.Append(Encoding.ASCII.GetString(buffer, 0, count));
            }

            return reply.ToString().StartsWith("HTTP/1.1 200", StringComparison.Ordinal);
        }
        catch (SocketException)
        {
            return false;
        }
    }
}
