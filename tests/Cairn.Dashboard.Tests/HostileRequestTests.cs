using System.Net;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;
using Cairn.Dashboard.Tests.Serving;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Xunit.Abstractions;

namespace Cairn.Dashboard.Tests;

/// <summary>The answer to a request that differs from the reference names the fault. The server logs no error.</summary>
public sealed class HostileRequestTests(ITestOutputHelper output)
{
    private const string Token = "X-Cairn-Token";
    private const string SeedVariable = "CAIRN_FUZZ_SEED";

    // A valid request for each endpoint. The tests derive broken requests from it.
    private static readonly (string Method, string Path, string Body)[] s_endpoints =
    [
        ("GET", "api/session", ""),
        ("POST", "api/login", """{"user":"unknown","password":"secret"}"""),
        ("POST", "api/logout", "{}"),
        ("GET", "api/live?channel=&range=1h&after=17", ""),
        ("GET", "api/memory", ""),
        ("GET", "api/view/slow", ""),
        ("POST", "api/survey", "{}"),
        ("POST", "api/keys", """{"collection":"","match":"b*[a-z]","position":0,"count":10}"""),
        ("POST", "api/value", """{"collection":"","id":"Ym9vazox"}"""),
        ("POST", "api/delete", """{"collection":"","id":"Ym9vazox","version":"7"}"""),
    ];

    [Theory]
    [InlineData("api/login", "{\"user\":\"\\ud800\",\"password\":\"x\"}", "not valid Unicode")]
    [InlineData("api/login", "{\"user\":\"\u00ff\u00fe\",\"password\":\"x\"}", "not valid Unicode")]
    [InlineData("api/login", "{\"\\udc00\":\"x\"}", "not valid Unicode")]
    [InlineData("api/login", "{\"user\":[]}", "'user' must be a text or a number")]
    [InlineData("api/keys", "{\"match\":\"\\udfff\"}", "not valid Unicode")]
    [InlineData("api/keys", "{\"collection\":\"\u0080\"}", "not valid Unicode")]
    [InlineData("api/keys", "{\"position\":-1}", "'position' must be a number from 0")]
    [InlineData("api/keys", "{\"count\":\"many\"}", "'count' must be a number from 0")]
    [InlineData("api/keys", "{\"count\":99999999999}", "'count' must be a number from 0")]
    [InlineData("api/value", "{\"id\":\"\\ud800\"}", "not valid Unicode")]
    [InlineData("api/value", "{\"id\":\"!\"}", "'id' must be a key")]
    [InlineData("api/value", "{\"id\":\"\"}", "'id' must be a key")]
    [InlineData("api/value", "{}", "'id' is missing")]
    [InlineData("api/delete", "{\"id\":\"Ym9vazox\",\"version\":\"seven\"}", "'version' must be a number from 0")]
    [InlineData("api/value", "", "the body is not valid JSON")]
    [InlineData("api/value", "[]", "the body must be a JSON object")]
    [InlineData("api/value", "{\"id\":\"Ym9vazox\"", "the body is not valid JSON")]
    [InlineData("api/value", "{} {}", "the body is not valid JSON")]
    public async Task Broken_body_is_answered_with_what_is_wrong(string path, string body, string error)
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync();
        server.Send("SET", "book:1", "Dune");
        using HttpRequestMessage request = Request("POST", path, Encoding.Latin1.GetBytes(body), "application/json", await TokenAsync(server.Http, ""));

        using HttpResponseMessage response = await server.Http.SendAsync(request);

        Assert.Equal(HttpStatusCode.BadRequest, response.StatusCode);
        Assert.Contains(error, await ErrorOfAsync(response), StringComparison.Ordinal);
        using CairnStore store = server.OpenStore();
        Assert.True(store.DefaultCollection.Contains("book:1"));
        Assert.Empty(server.Errors);
    }

    [Theory]
    [InlineData("api/live?after=x")]
    [InlineData("api/live?after=-1")]
    [InlineData("api/live?after=1&after=2")]
    [InlineData("api/live?after=99999999999999999999")]
    public async Task Broken_query_is_answered_with_what_is_wrong(string path)
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync();

        using HttpResponseMessage response = await server.Http.GetAsync(new Uri(path, UriKind.Relative));

        Assert.Equal(HttpStatusCode.BadRequest, response.StatusCode);
        Assert.Contains("'after' must be a number", await ErrorOfAsync(response), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Broken_authorization_and_content_type_are_answered_with_what_is_wrong()
    {
        await using ServedDashboard server = await ServedDashboard.StartWithUsersAsync();

        foreach (string header in new[] { "Basic !", "Basic /w==", "Basic" })
        {
            using var request = new HttpRequestMessage(HttpMethod.Get, "api/live");
            request.Headers.TryAddWithoutValidation("Authorization", header);
            using HttpResponseMessage response = await server.Http.SendAsync(request);
            Assert.Equal(header == "Basic" ? HttpStatusCode.Unauthorized : HttpStatusCode.BadRequest, response.StatusCode);
        }

        using HttpRequestMessage text = Request("POST", "api/login", "{}"u8.ToArray(), "text/plain", await TokenAsync(server.Http, ""));
        using HttpResponseMessage refused = await server.Http.SendAsync(text);
        Assert.Contains("application/json", await ErrorOfAsync(refused), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Random_requests_to_a_server_are_never_its_fault()
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync();
        server.Send("SET", "book:1", "Dune");
        server.Send("HSET", "book:2", "f", "v");

        await FuzzAsync(server.Http, "");

        Assert.Empty(server.Errors);
    }

    [Fact]
    public async Task Random_requests_to_an_application_are_never_its_fault()
    {
        using var log = new ErrorLog();
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders().AddProvider(log);
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        builder.Services.AddCairnHybridCache(options => options.UseSecondLevel = false);
        await using WebApplication application = builder.Build();
        application.MapCairnDashboard();
        await application.StartAsync();
        string address = application.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses.Single();
        using var http = new HttpClient { BaseAddress = new Uri(address) };

        await FuzzAsync(http, "cairn/");

        Assert.Empty(log.Errors);
    }

    private async Task FuzzAsync(HttpClient http, string prefix)
    {
        const int RequestsForEach = 150;
        int seed = int.TryParse(Environment.GetEnvironmentVariable(SeedVariable), out int given) ? given : Random.Shared.Next();
        output.WriteLine($"Again: {SeedVariable}={seed} ./test dashboard --filter {nameof(HostileRequestTests)}");
        var random = new Random(seed);
        foreach ((string method, string path, string body) in s_endpoints)
        {
            string token = await TokenAsync(http, prefix);
            for (int i = 0; i < RequestsForEach; i++)
            {
                byte[] bytes = Break(random, body);
                string type = random.Next(20) == 0 ? "text/plain" : "application/json";
                if (path == "api/login" && IsValid(bytes))
                {
                    continue; // A wrong password takes long on purpose.
                }

                using HttpRequestMessage request = Request(method, prefix + BreakQuery(random, path), method == "GET" ? null : bytes, type, token);
                using HttpResponseMessage response = await http.SendAsync(request);

                int status = (int)response.StatusCode;
                Assert.True(status < 500, $"{SeedVariable}={seed}: {method} {request.RequestUri} with {Convert.ToHexString(bytes)} was answered with {status}.");
                if (response.StatusCode == HttpStatusCode.BadRequest && response.Content.Headers.ContentLength > 0)
                {
                    Assert.NotEmpty(await ErrorOfAsync(response));
                }
            }
        }
    }

    private static byte[] Break(Random random, string body)
    {
        if (random.Next(8) == 0)
        {
            byte[] any = new byte[random.Next(200)];
            random.NextBytes(any);
            return any;
        }

        List<byte> bytes = [.. Encoding.UTF8.GetBytes(body)];
        string[] parts = ["\\ud800", "\\udfff\\ud800", "\\u0000", "\"", "{", "}", "[", "]", ":", ",", "null", "1e999", "-1", "true", "\\", new string('[', 100), "\u20ac"];
        for (int i = random.Next(4); i > 0; i--)
        {
            int at = random.Next(bytes.Count + 1);
            switch (random.Next(5))
            {
                case 0:
                    bytes.Insert(at, (byte)random.Next(256));
                    break;
                case 1:
                    bytes.InsertRange(at, Encoding.UTF8.GetBytes(parts[random.Next(parts.Length)]));
                    break;
                case 2 when at < bytes.Count:
                    bytes[at] = (byte)random.Next(256);
                    break;
                case 3:
                    bytes.RemoveRange(at, bytes.Count - at);
                    break;
                default:
                    bytes.RemoveRange(at, Math.Min(random.Next(3), bytes.Count - at));
                    break;
            }
        }

        return [.. bytes];
    }

    private static string BreakQuery(Random random, string path) => random.Next(3) switch
    {
        0 => path,
        1 => path + (path.Contains('?', StringComparison.Ordinal) ? "&" : "?") + "after=" + Uri.EscapeDataString($"{random.NextInt64(long.MinValue, long.MaxValue)}"),
        _ => path + (path.Contains('?', StringComparison.Ordinal) ? "%" : "?%") + $"{random.Next(256):X2}%ED%A0%80&channel=%{random.Next(256):X2}&x=%",
    };

    private static bool IsValid(byte[] body)
    {
        try
        {
            using var document = JsonDocument.Parse(body);
            return document.RootElement.ValueKind == JsonValueKind.Object;
        }
        catch (JsonException)
        {
            return false;
        }
    }

    private static HttpRequestMessage Request(string method, string path, byte[]? body, string type, string token)
    {
        var request = new HttpRequestMessage(new HttpMethod(method), new Uri(path, UriKind.Relative));
        request.Headers.Add(Token, token);
        if (body is not null)
        {
            request.Content = new ByteArrayContent(body);
            request.Content.Headers.ContentType = new MediaTypeHeaderValue(type);
        }

        return request;
    }

    private static async Task<string> TokenAsync(HttpClient http, string prefix)
    {
        using var session = JsonDocument.Parse(await http.GetStringAsync(new Uri(prefix + "api/session", UriKind.Relative)));
        return session.RootElement.GetProperty("token").GetString()!;
    }

    private static async Task<string> ErrorOfAsync(HttpResponseMessage response)
    {
        using var answer = JsonDocument.Parse(await response.Content.ReadAsStringAsync());
        return answer.RootElement.GetProperty("error").GetString()!;
    }
}
