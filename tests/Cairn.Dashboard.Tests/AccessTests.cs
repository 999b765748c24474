using System.Net;
using System.Text.Json;
using Cairn.Dashboard.Tests.Serving;

namespace Cairn.Dashboard.Tests;

/// <summary>The access that each client gets, with requests that a browser would not send.</summary>
public sealed class AccessTests
{
    private const string Token = "X-Cairn-Token";

    [Theory]
    [InlineData("localhost", HttpStatusCode.OK)]
    [InlineData("127.0.0.1", HttpStatusCode.OK)]
    [InlineData("[::1]", HttpStatusCode.OK)]
    [InlineData("cache.example", HttpStatusCode.OK)] // The option --http-names names it.
    [InlineData("evil.example", HttpStatusCode.MisdirectedRequest)]
    [InlineData("127.0.0.1.evil.example", HttpStatusCode.MisdirectedRequest)]
    public async Task Only_names_of_the_server_are_answered(string host, HttpStatusCode expected)
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync((options, _) => options with { HttpNames = "cache.example" });

        foreach (string path in (string[])["/", "/cairn.css", "/api/session", "/api/live"])
        {
            (HttpStatusCode status, _) = await server.AskAsync(HttpMethod.Get, path, headers: headers => headers.Host = $"{host}:{server.Address.Port}");
            Assert.Equal(expected, status);
        }
    }

    // Probes and collectors of figures use the names of services.
    [Theory]
    [InlineData("/metrics")]
    [InlineData("/health/live")]
    [InlineData("/health/ready")]
    public async Task Figures_and_health_are_answered_under_any_name_and_have_no_keys(string path)
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync();
        using (CairnStore store = server.OpenStore())
        {
            store.DefaultCollection.Set("secret-key"u8, "secret-value"u8);
        }

        using var request = new HttpRequestMessage(HttpMethod.Get, path);
        request.Headers.Host = "evil.example";
        using HttpResponseMessage response = await server.Http.SendAsync(request);

        Assert.Equal(HttpStatusCode.OK, response.StatusCode);
        Assert.DoesNotContain("secret", await response.Content.ReadAsStringAsync(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Page_forbids_scripts_and_styles_that_are_not_its_own()
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync();

        using HttpResponseMessage response = await server.Http.GetAsync(new Uri("/", UriKind.Relative));

        string policy = Assert.Single(response.Headers.GetValues("Content-Security-Policy"));
        Assert.Contains("default-src 'none'", policy, StringComparison.Ordinal);
        Assert.Contains("frame-ancestors 'none'", policy, StringComparison.Ordinal);
        Assert.DoesNotContain("unsafe", policy, StringComparison.Ordinal);
        Assert.DoesNotContain("http", policy, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(null, null, null, HttpStatusCode.Forbidden)] // No token.
    [InlineData("wrong", null, null, HttpStatusCode.Forbidden)]
    [InlineData("right", null, null, HttpStatusCode.OK)]
    [InlineData("right", "same-origin", null, HttpStatusCode.OK)]
    [InlineData("right", "cross-site", null, HttpStatusCode.Forbidden)]
    [InlineData("right", null, "http://evil.example", HttpStatusCode.Forbidden)]
    public async Task Change_must_come_from_a_page_of_this_server(string? token, string? site, string? origin, HttpStatusCode expected)
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync();
        server.Send("SET", "book:1", "Dune");
        (_, JsonElement session) = await server.AskAsync(HttpMethod.Get, "/api/session");
        token = token == "right" ? session.GetProperty("token").GetString() : token;

        (HttpStatusCode status, _) = await server.AskAsync(HttpMethod.Post, "/api/delete", new { id = ServedDashboard.Id("book:1") }, headers =>
        {
            if (token is not null)
            {
                headers.Add(Token, token);
            }

            if (site is not null)
            {
                headers.Add("Sec-Fetch-Site", site);
            }

            if (origin is not null)
            {
                headers.Add("Origin", origin);
            }
        });

        Assert.Equal(expected, status);
        using CairnStore store = server.OpenStore();
        Assert.Equal(expected != HttpStatusCode.OK, store.DefaultCollection.Contains("book:1"));
    }

    [Theory]
    [InlineData(null, null, HttpStatusCode.OK)]
    [InlineData("same-origin", null, HttpStatusCode.OK)]
    [InlineData("none", null, HttpStatusCode.OK)] // The user typed the address.
    [InlineData("cross-site", null, HttpStatusCode.Forbidden)]
    [InlineData("same-site", null, HttpStatusCode.Forbidden)]
    [InlineData(null, "http://evil.example", HttpStatusCode.Forbidden)]
    [InlineData(null, "null", HttpStatusCode.Forbidden)]
    [InlineData(null, "not an origin", HttpStatusCode.Forbidden)]
    [InlineData(null, "itself", HttpStatusCode.OK)]
    public async Task Figures_are_refused_to_pages_of_other_sites(string? site, string? origin, HttpStatusCode expected)
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync();

        foreach (string path in (string[])["/api/session", "/api/live", "/api/memory", "/api/view/slow"])
        {
            (HttpStatusCode status, _) = await server.AskAsync(HttpMethod.Get, path, headers: headers =>
            {
                if (site is not null)
                {
                    headers.Add("Sec-Fetch-Site", site);
                }

                if (origin is not null)
                {
                    headers.TryAddWithoutValidation("Origin", origin == "itself" ? server.Address.GetLeftPart(UriPartial.Authority) : origin);
                }
            });
            Assert.Equal(expected, status);
        }

        // A link may lead to the page itself.
        (HttpStatusCode page, _) = await server.AskAsync(HttpMethod.Get, "/", headers: headers => headers.Add("Sec-Fetch-Site", "cross-site"));
        Assert.Equal(HttpStatusCode.OK, page);
    }

    [Theory]
    [InlineData("/api/live", "GET")]
    [InlineData("/api/memory", "GET")]
    [InlineData("/api/view/slow", "GET")]
    [InlineData("/api/view/clients", "GET")]
    [InlineData("/api/keys", "POST")]
    [InlineData("/api/value", "POST")]
    [InlineData("/api/delete", "POST")]
    [InlineData("/api/survey", "POST")]
    public async Task Nothing_is_shown_before_the_login_if_the_server_requires_one(string path, string method)
    {
        await using ServedDashboard server = await ServedDashboard.StartWithUsersAsync();

        (HttpStatusCode status, _) = await server.AskAsync(new HttpMethod(method), path, method == "POST" ? new { id = "eA" } : null);
        (_, JsonElement session) = await server.AskAsync(HttpMethod.Get, "/api/session");

        Assert.Equal(HttpStatusCode.Unauthorized, status);
        Assert.True(session.GetProperty("isLoginNeeded").GetBoolean());
        Assert.False(session.TryGetProperty("title", out _));
    }

    [Theory]
    [InlineData("reader", "book:1", HttpStatusCode.OK, HttpStatusCode.Forbidden)]
    [InlineData("reader", "secret:1", HttpStatusCode.NotFound, HttpStatusCode.Forbidden)]
    [InlineData("writer", "book:1", HttpStatusCode.OK, HttpStatusCode.OK)]
    [InlineData("writer", "secret:1", HttpStatusCode.NotFound, HttpStatusCode.NotFound)]
    [InlineData("admin", "secret:1", HttpStatusCode.OK, HttpStatusCode.OK)]
    public async Task User_reads_and_deletes_what_its_rights_in_the_protocol_allow(
        string user, string key, HttpStatusCode reading, HttpStatusCode deleting)
    {
        await using ServedDashboard server = await ServedDashboard.StartWithUsersAsync();
        using CairnStore store = server.OpenStore();
        store.DefaultCollection.Set(key, "x"u8);
        var body = new { id = ServedDashboard.Id(key) };

        (HttpStatusCode read, _) = await server.AskAsync(HttpMethod.Post, "/api/value", body, headers => headers.Authorization = ServedDashboard.Basic(user));
        (HttpStatusCode deleted, _) = await server.AskAsync(HttpMethod.Post, "/api/delete", body, headers => headers.Authorization = ServedDashboard.Basic(user));

        Assert.Equal((reading, deleting), (read, deleted));
        Assert.Equal(deleting != HttpStatusCode.OK, store.DefaultCollection.Contains(key));
    }

    [Theory]
    [InlineData("/api/memory")]
    [InlineData("/api/view/slow")]
    [InlineData("/api/view/hot")]
    [InlineData("/api/view/clients")]
    public async Task User_of_a_prefix_does_not_see_what_others_do(string path)
    {
        await using ServedDashboard server = await ServedDashboard.StartWithUsersAsync();

        (HttpStatusCode writer, _) = await server.AskAsync(HttpMethod.Get, path, headers: headers => headers.Authorization = ServedDashboard.Basic("writer"));
        (HttpStatusCode admin, _) = await server.AskAsync(HttpMethod.Get, path, headers: headers => headers.Authorization = ServedDashboard.Basic("admin"));

        Assert.Equal((HttpStatusCode.Forbidden, HttpStatusCode.OK), (writer, admin));
    }

    [Fact]
    public async Task Survey_and_search_of_a_user_of_a_prefix_keep_to_it()
    {
        await using ServedDashboard server = await ServedDashboard.StartWithUsersAsync();
        using CairnStore store = server.OpenStore();
        store.DefaultCollection.Set("book:1", "Dune"u8);
        store.DefaultCollection.Set("secret:1", new byte[5000]);
        store.Collection("other").Set("book:2", "Emma"u8);

        (_, JsonElement survey) = await server.AskAsync(HttpMethod.Post, "/api/survey", new { }, headers => headers.Authorization = ServedDashboard.Basic("writer"));
        var keys = new List<string?>();
        JsonElement search;
        long position = 0;
        do // One answer has what was found within 50 ms. On a busy machine that can be nothing yet.
        {
            (_, search) = await server.AskAsync(
                HttpMethod.Post, "/api/keys", new { match = "*", position }, headers => headers.Authorization = ServedDashboard.Basic("writer"));
            position = search.GetProperty("position").GetInt64();
            keys.AddRange(search.GetProperty("keys").EnumerateArray().Select(static key => key.GetProperty("key").GetString()));
        }
        while (!search.GetProperty("isComplete").GetBoolean());

        (HttpStatusCode other, _) = await server.AskAsync(
            HttpMethod.Post, "/api/keys", new { collection = "other" }, headers => headers.Authorization = ServedDashboard.Basic("writer"));

        Assert.Equal(1, survey.GetProperty("entries").GetInt64());
        Assert.Equal("book:1", Assert.Single(keys));
        Assert.Equal(HttpStatusCode.NotFound, other);
    }

    [Fact]
    public async Task Session_lasts_until_the_logout_and_its_cookie_is_for_this_server_only()
    {
        await using ServedDashboard server = await ServedDashboard.StartWithUsersAsync();
        (_, JsonElement before) = await server.AskAsync(HttpMethod.Get, "/api/session");
        using var login = new HttpRequestMessage(HttpMethod.Post, "/api/login") { Content = Json(new { user = "admin", password = "admin" }) };
        login.Headers.Add(Token, before.GetProperty("token").GetString());

        using HttpResponseMessage response = await server.Http.SendAsync(login);
        string cookie = Assert.Single(response.Headers.GetValues("Set-Cookie"));

        Assert.Contains("samesite=strict", cookie, StringComparison.OrdinalIgnoreCase);
        Assert.Contains("httponly", cookie, StringComparison.OrdinalIgnoreCase);
        Assert.Contains($"-{server.Address.Port}=", cookie, StringComparison.Ordinal);
        Assert.Equal(HttpStatusCode.OK, (await server.AskAsync(HttpMethod.Get, "/api/live")).Status); // The client keeps the cookie.
        (_, JsonElement session) = await server.AskAsync(HttpMethod.Get, "/api/session");
        Assert.Equal("admin", session.GetProperty("user").GetString());
        Assert.Equal(HttpStatusCode.Forbidden, (await server.AskAsync(
            HttpMethod.Post, "/api/logout", headers: headers => headers.Add(Token, before.GetProperty("token").GetString()))).Status);
        Assert.Equal(HttpStatusCode.OK, (await server.AskAsync(
            HttpMethod.Post, "/api/logout", headers: headers => headers.Add(Token, session.GetProperty("token").GetString()))).Status);
        Assert.Equal(HttpStatusCode.Unauthorized, (await server.AskAsync(HttpMethod.Get, "/api/live", headers: headers => headers.Add("Cookie", cookie.Split(';')[0]))).Status);
    }

    [Theory]
    [InlineData("[1]")]
    [InlineData("{")]
    [InlineData("{\"id\": true}")]
    [InlineData("{\"id\": \"%%%\"}")]
    [InlineData("{}")]
    public async Task Request_of_another_form_is_refused(string body)
    {
        await using ServedDashboard server = await ServedDashboard.StartWithUsersAsync();
        using var request = new HttpRequestMessage(HttpMethod.Post, "/api/value")
        {
            Content = new StringContent(body, System.Text.Encoding.UTF8, "application/json"),
        };
        request.Headers.Authorization = ServedDashboard.Basic("admin");

        using HttpResponseMessage response = await server.Http.SendAsync(request);

        Assert.Equal(HttpStatusCode.BadRequest, response.StatusCode);
    }

    private static StringContent Json(object body) => new(JsonSerializer.Serialize(body), System.Text.Encoding.UTF8, "application/json");
}
