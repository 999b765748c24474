using System.Net;
using System.Net.Sockets;
using Cairn.Dashboard;
using Cairn.Server.Hosting;
using Cairn.Server.Listening;
using Cairn.Server.Logging;
using Cairn.Server.Tests.Metrics;
using Cairn.Server.Tests.Testing;
using Microsoft.Extensions.Logging.Abstractions;

namespace Cairn.Server.Tests.Hosting;

/// <summary>The content of the HTTP endpoint, and its start and stop.</summary>
public sealed class HttpTests
{
    [Theory]
    [InlineData("/", "GET", HttpStatusCode.OK, "/metrics")]
    [InlineData("/health/live", "GET", HttpStatusCode.OK, "live")]
    [InlineData("/health/ready", "GET", HttpStatusCode.OK, "ready")]
    [InlineData("/metrics", "HEAD", HttpStatusCode.OK, "")]
    [InlineData("/metrics", "POST", HttpStatusCode.MethodNotAllowed, "")]
    [InlineData("/else", "GET", HttpStatusCode.NotFound, "")]
    public async Task Page_is_what_was_asked_for(string path, string method, HttpStatusCode status, string text)
    {
        await using ServedMetrics server = await ServedMetrics.StartAsync();

        using HttpResponseMessage response = await server.SendAsync(new HttpMethod(method), path);

        Assert.Equal(status, response.StatusCode);
        Assert.Contains(text, await response.Content.ReadAsStringAsync(), StringComparison.Ordinal);
        Assert.True(response.Headers.CacheControl!.NoStore);
        Assert.False(response.Headers.Contains("Server"));
    }

    [Fact]
    public async Task Server_is_alive_but_not_ready_while_it_starts_and_stops()
    {
        var insight = new ServerInsight(NullLogger.Instance, TimeProvider.System);
        await using LazyHttpService door = LazyHttpService.Open([ListenAddress.Tcp("127.0.0.1", 0)], () => new CairnDashboard(insight), NullLogger.Instance);
        door.Accept();
        using var http = new HttpClient { BaseAddress = new Uri($"http://{door.Listeners[0].Where}") };

        Assert.Equal((HttpStatusCode.ServiceUnavailable, "starting\n"), await GetAsync("/health/ready"));
        Assert.Equal((HttpStatusCode.OK, "live\n"), await GetAsync("/health/live"));
        Assert.Equal((HttpStatusCode.OK, ""), await GetAsync("/metrics"));
        insight.OnStopping();
        Assert.Equal((HttpStatusCode.ServiceUnavailable, "stopping\n"), await GetAsync("/health/ready"));

        async Task<(HttpStatusCode, string)> GetAsync(string path)
        {
            using HttpResponseMessage response = await http.GetAsync(new Uri(path, UriKind.Relative));
            return (response.StatusCode, await response.Content.ReadAsStringAsync());
        }
    }

    [Fact]
    public async Task Service_is_made_by_the_first_client_and_gets_all_of_them()
    {
        var service = new CountingService();
        int made = 0;
        await using (LazyHttpService door = LazyHttpService.Open([ListenAddress.Tcp("127.0.0.1", 0)], Make, NullLogger.Instance))
        {
            door.Accept();
            Assert.False(door.IsServed);
            using TestClient first = TestClient.Connect(door.Listeners[0].EndPoint!);
            using TestClient second = TestClient.Connect(door.Listeners[0].EndPoint!);

            Assert.Equal("served", first.ReadLine());
            Assert.Equal("served", second.ReadLine());
        }

        Assert.Equal((1, 2, true), (made, service.Served, service.IsDisposed));

        IHttpService Make()
        {
            made++;
            return service;
        }
    }

    [Fact]
    public async Task Server_starts_without_http_if_that_is_allowed_and_its_port_is_taken()
    {
        using var other = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        other.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        other.Listen();
        string taken = other.LocalEndPoint!.ToString()!;

        await using ServedMetrics server = await ServedMetrics.StartAsync(configure: options => options with { Http = taken, IsHttpOptional = true });

        Assert.DoesNotContain("http", server.Server.Addresses.Select(address => address.Key));
        await Assert.ThrowsAsync<ServerException>(() => ServedMetrics.StartAsync(configure: options => options with { Http = taken }));
    }

    [Fact]
    public async Task Unix_socket_serves_http_too()
    {
        using var directory = new TestDirectory();
        string path = directory["http.sock"];
        await using ServedMetrics server = await ServedMetrics.StartAsync(configure: options => options with { Http = $"unix:{path}" });
        using TestClient client = TestClient.Connect(new UnixDomainSocketEndPoint(path));

        client.Send("GET /health/ready HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n");

        Assert.StartsWith("HTTP/1.1 200 OK", client.ReadToEnd(), StringComparison.Ordinal);
    }

    [Fact]
    public void Store_that_is_found_to_be_damaged_is_not_trusted_for_a_minute()
    {
        var watch = new DamageWatch();

        Assert.True(watch.Look(damaged: 5, nowMs: 0).IsReady); // Damage before the start does not count.
        Assert.False(watch.Look(6, 1000).IsReady);
        Assert.False(watch.Look(6, 60_999).IsReady);
        Assert.True(watch.Look(6, 61_000).IsReady);
    }

    private sealed class CountingService : IHttpService
    {
        public int Served { get; private set; }

        public bool IsDisposed { get; private set; }

        public void Serve(Socket client)
        {
            Served++;
            client.Send("served\n"u8);
            client.Dispose();
        }

        public ValueTask DisposeAsync()
        {
            IsDisposed = true;
            return default;
        }
    }
}
