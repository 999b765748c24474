// The requests of a dashboard, and the checks that each of them has to pass:
//
//   refused?  ->  host known?  ->  page or file
//                              ->  api: from another site?  ->  which user?  ->  a change: with the token of our page?  ->  user's rights
//
//   I1  A mistake of the client is answered with 400 and the reason, and is not logged. Only a defect of this code is a 500.
using System.Text.Json;
using System.Text.Unicode;
using Cairn.Dashboard.Pages.Access;
using Cairn.Dashboard.Pages.History;
using Cairn.Dashboard.Pages.Keys;
using Cairn.Dashboard.Pages.Reports;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Net.Http.Headers;

namespace Cairn.Dashboard.Pages.Web;

#pragma warning disable CA1001 // Without a wait handle, a semaphore holds only memory, and requests may run until the process ends.
internal sealed class DashboardRoutes
#pragma warning restore CA1001
{
    /// <summary>The header that carries the anti-forgery token.</summary>
    public const string TokenHeader = "X-Cairn-Token";

    private const int DefaultCount = 100;
    private const string NoRights = "you may not see this";

    // Scripts, styles and pictures come only from this origin, and no code may insert text into the page as markup.
    private const string ContentSecurityPolicy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
        "base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

    private static readonly TimeSpan s_failureDelay = TimeSpan.FromMilliseconds(400);
    private static readonly string[] s_get = [HttpMethods.Get, HttpMethods.Head];
    private static readonly string[] s_post = [HttpMethods.Post];

    private readonly IDashboardSubject _subject;
    private readonly IDashboardAccess _access;
    private readonly SessionTable _sessions = new(TimeProvider.System);
    private readonly SemaphoreSlim _logins = new(2);
    private readonly SemaphoreSlim _surveys = new(1);
    private readonly CairnStore? _store;

    private DashboardRoutes(IDashboardSubject subject, IDashboardAccess access, CairnStore? store)
    {
        _subject = subject;
        _access = access;
        _store = store;
    }

    /// <summary>Maps the pages.</summary>
    /// <param name="routes">The route builder; paths are relative to it.</param>
    /// <param name="subject">The subject of the dashboard.</param>
    /// <param name="access">Decides who may use the dashboard.</param>
    /// <param name="store">The store whose memory and entries are shown; null if there is none.</param>
    public static void Map(IEndpointRouteBuilder routes, IDashboardSubject subject, IDashboardAccess access, CairnStore? store)
    {
        var pages = new DashboardRoutes(subject, access, store);
        pages.Add(routes, "/", s_get, WriteIndexAsync);
        foreach ((string path, Asset asset) in AssetTable.All)
        {
            pages.Add(routes, $"/{path}", s_get, context => WriteAssetAsync(context, asset));
        }

        pages.AddOpenApi(routes, "/api/session", s_get, pages.SessionAsync);
        pages.AddOpenApi(routes, "/api/login", s_post, pages.LoginAsync);
        pages.AddOpenApi(routes, "/api/logout", s_post, pages.LogoutAsync);
        pages.AddApi(routes, "/api/live", s_get, pages.LiveAsync);
        pages.AddApi(routes, "/api/memory", s_get, pages.MemoryAsync);
        pages.AddApi(routes, "/api/view/{name}", s_get, pages.ViewAsync);
        pages.AddApi(routes, "/api/survey", s_post, pages.AnalyzeAsync);
        pages.AddApi(routes, "/api/keys", s_post, pages.KeysAsync);
        pages.AddApi(routes, "/api/value", s_post, pages.ValueAsync);
        pages.AddApi(routes, "/api/delete", s_post, pages.DeleteAsync);
    }

    // --- Checks of all requests ---

    private void Add(IEndpointRouteBuilder routes, string path, string[] methods, RequestDelegate handler) =>
        routes.MapMethods(path, methods, context => GuardAsync(context, handler));

    // Adds a request that needs no login.
    private void AddOpenApi(IEndpointRouteBuilder routes, string path, string[] methods, RequestDelegate handler) =>
        Add(routes, path, methods, context => IsFromAnotherSite(context)
            ? WriteErrorAsync(context, StatusCodes.Status403Forbidden, "pages of other sites have no access")
            : handler(context));

    private void AddApi(IEndpointRouteBuilder routes, string path, string[] methods, Func<HttpContext, DashboardUser, Task> handler) =>
        AddOpenApi(routes, path, methods, context => IdentifyAsync(context, handler));

    private async Task GuardAsync(HttpContext context, RequestDelegate handler)
    {
        IHeaderDictionary headers = context.Response.Headers;
        headers.ContentSecurityPolicy = ContentSecurityPolicy;
        headers.XContentTypeOptions = "nosniff";
        headers[HeaderNames.XFrameOptions] = "DENY";
        headers["Referrer-Policy"] = "no-referrer";
        headers["Cross-Origin-Opener-Policy"] = "same-origin";
        headers["Cross-Origin-Resource-Policy"] = "same-origin";
        headers.CacheControl = "no-store";
        if (_access.Refuse(context) is { } reason)
        {
            await WriteErrorAsync(context, StatusCodes.Status403Forbidden, reason).ConfigureAwait(false);
            return;
        }

        if (!_access.IsKnownHost(context))
        {
            await WriteErrorAsync(
                context, StatusCodes.Status421MisdirectedRequest,
                "this server does not serve this name; use its address, or localhost, or tell the server the name").ConfigureAwait(false);
            return;
        }

        try
        {
            await handler(context).ConfigureAwait(false);
        }
        catch (InvalidRequestException e)
        {
            await WriteErrorAsync(context, StatusCodes.Status400BadRequest, e.Message).ConfigureAwait(false);
        }
        catch (BadHttpRequestException e)
        {
            await WriteErrorAsync(
                context, e.StatusCode,
                e.StatusCode == StatusCodes.Status413PayloadTooLarge ? "the request is too long" : "the request is not valid HTTP").ConfigureAwait(false);
        }
#pragma warning disable CA1031 // The exception is a consequence of the closed connection.
        catch (Exception) when (context.RequestAborted.IsCancellationRequested)
#pragma warning restore CA1031
        {
            // The client no longer waits for the response.
        }
        catch (ObjectDisposedException)
        {
            await WriteErrorAsync(context, StatusCodes.Status503ServiceUnavailable, "stopping").ConfigureAwait(false);
        }
        catch (StoreException e)
        {
            _subject.LogError($"The dashboard could not do {context.Request.Path}: {e.Message}");
            await WriteErrorAsync(context, StatusCodes.Status500InternalServerError, e.Message).ConfigureAwait(false);
        }
#pragma warning disable CA1031 // The request fails with a message, and the log has no stack trace of the web server.
        catch (Exception e)
#pragma warning restore CA1031
        {
            _subject.LogError($"The dashboard could not do {context.Request.Path}: {e.GetType().Name}: {e.Message}");
            await WriteErrorAsync(context, StatusCodes.Status500InternalServerError, "the dashboard could not do this; the log says why").ConfigureAwait(false);
        }
    }

    private async Task IdentifyAsync(HttpContext context, Func<HttpContext, DashboardUser, Task> handler)
    {
        DashboardUser? user = _sessions.Find(SessionOf(context));
        bool isByCookie = true;
        if (user is null && BasicOf(context) is var (name, password))
        {
            user = await AuthenticateAsync(name, password, context.RequestAborted).ConfigureAwait(false);
            isByCookie = false; // Browsers do not send this header on their own, because the server never asks for it.
        }
        else
        {
            user ??= _access.Anonymous;
        }

        if (user is null)
        {
            await WriteErrorAsync(context, StatusCodes.Status401Unauthorized, "log in first").ConfigureAwait(false);
            return;
        }

        if (isByCookie && HttpMethods.IsPost(context.Request.Method) && !HasToken(context))
        {
            await WriteErrorAsync(context, StatusCodes.Status403Forbidden, $"the header {TokenHeader} must have the token of the session").ConfigureAwait(false);
            return;
        }

        await handler(context, user).ConfigureAwait(false);
    }

    private bool HasToken(HttpContext context) => _sessions.IsToken(HeldSession(context), context.Request.Headers[TokenHeader]);

    // Browsers state the site from which a request comes. For an address that a person typed, the value is "none".
    private static bool IsFromAnotherSite(HttpContext context)
    {
        string? site = context.Request.Headers["Sec-Fetch-Site"];
        bool isRead = !HttpMethods.IsPost(context.Request.Method);
        if (site is not (null or "same-origin") && !(isRead && site == "none"))
        {
            return true;
        }

        string? origin = context.Request.Headers.Origin;
        return origin is not null
            && !(Uri.TryCreate(origin, UriKind.Absolute, out Uri? from)
                && Uri.TryCreate($"{context.Request.Scheme}://{context.Request.Host}", UriKind.Absolute, out Uri? here)
                && from.Authority.Equals(here.Authority, StringComparison.OrdinalIgnoreCase));
    }

    // --- Users ---

    private async Task SessionAsync(HttpContext context)
    {
        string? session = HeldSession(context);
        DashboardUser? user = _sessions.Find(session) ?? _access.Anonymous;
        await WriteAsync(context, writer =>
        {
            writer.WriteString("kind"u8, _subject.Kind);
            writer.WriteString("version"u8, _subject.Version);
            writer.WriteString("token"u8, _sessions.TokenOf(session));
            writer.WriteBoolean("isLoginNeeded"u8, user is null);
            if (user is null)
            {
                return;
            }

            writer.WriteString("title"u8, _subject.Title);
            writer.WriteString("user"u8, user.Name);
            writer.WriteBoolean("mayChange"u8, user.MayChange);
            writer.WriteString("keyPrefix"u8, KeyBrowser.Readable(user.KeyPrefix));
            WriteNames(writer, "views"u8, _subject.ViewsFor(user));
            WriteNames(writer, "channels"u8, _subject.Channels);
            WriteNames(writer, "collections"u8, _subject.Keys?.CollectionsFor(user) ?? []);
        }).ConfigureAwait(false);
    }

    private async Task LoginAsync(HttpContext context)
    {
        if (!HasToken(context))
        {
            await WriteErrorAsync(context, StatusCodes.Status403Forbidden, $"the header {TokenHeader} must have the token of the session").ConfigureAwait(false);
            return;
        }

        RequestBody body = await RequestBody.ReadAsync(context).ConfigureAwait(false);
        DashboardUser? user = await AuthenticateAsync(
            body.TextOf("user") ?? "", body.TextOf("password") ?? "", context.RequestAborted).ConfigureAwait(false);
        if (user is null)
        {
            await WriteErrorAsync(context, StatusCodes.Status401Unauthorized, "wrong user or password").ConfigureAwait(false);
            return;
        }

        _sessions.End(SessionOf(context));
        context.Response.Cookies.Append(CookieOf(context), _sessions.Begin(user), new CookieOptions
        {
            HttpOnly = true,
            SameSite = Microsoft.AspNetCore.Http.SameSiteMode.Strict,
            Secure = context.Request.IsHttps,
            Path = context.Request.PathBase.HasValue ? context.Request.PathBase : "/",
            IsEssential = true,
        });
        await WriteAsync(context, _ => { }).ConfigureAwait(false);
    }

    private async Task LogoutAsync(HttpContext context)
    {
        if (!HasToken(context))
        {
            await WriteErrorAsync(context, StatusCodes.Status403Forbidden, $"the header {TokenHeader} must have the token of the session").ConfigureAwait(false);
            return;
        }

        _sessions.End(SessionOf(context));
        context.Response.Cookies.Delete(CookieOf(context));
        await WriteAsync(context, _ => { }).ConfigureAwait(false);
    }

    // A slow hash checks passwords. At most two checks run at a time, and each failure adds a delay, so that guessing costs the server
    // little.
    private async Task<DashboardUser?> AuthenticateAsync(string name, string password, CancellationToken cancellationToken)
    {
        await _logins.WaitAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            DashboardUser? user = _access.Authenticate(name, password);
            if (user is null)
            {
                await Task.Delay(s_failureDelay, cancellationToken).ConfigureAwait(false);
            }

            return user;
        }
        finally
        {
            _logins.Release();
        }
    }

    // Cookies do not depend on the port, so the name of each server's cookie contains its port.
    private static string CookieOf(HttpContext context) => string.Create(CultureInfo.InvariantCulture, $"cairn-{context.Request.Host.Port ?? 0}");

    private static string? SessionOf(HttpContext context) => context.Request.Cookies[CookieOf(context)];

    // Returns null also for a cookie whose session has ended.
    private string? HeldSession(HttpContext context) => SessionOf(context) is { } id && _sessions.Find(id) is not null ? id : null;

    private static (string Name, string Password)? BasicOf(HttpContext context)
    {
        const string Scheme = "Basic ";
        string? header = context.Request.Headers.Authorization;
        if (header?.StartsWith(Scheme, StringComparison.OrdinalIgnoreCase) != true)
        {
            return null;
        }

        byte[] decoded = new byte[header.Length];
        if (!Convert.TryFromBase64String(header[Scheme.Length..], decoded, out int length) || !Utf8.IsValid(decoded.AsSpan(0, length)))
        {
            throw new InvalidRequestException("the header Authorization must have USER:PASSWORD as UTF-8 in Base64");
        }

        string[] parts = Encoding.UTF8.GetString(decoded, 0, length).Split(':', 2);
        return (parts[0], parts.Length > 1 ? parts[1] : "");
    }

    // --- Requests ---

    private Task LiveAsync(HttpContext context, DashboardUser user)
    {
        string channel = context.Request.Query["channel"].ToString();
        if (_subject.HistoryOf(channel) is not { } history)
        {
            return WriteErrorAsync(context, StatusCodes.Status404NotFound, "there is no such cache");
        }

        string? name = context.Request.Query["range"];
        int range = string.IsNullOrEmpty(name) ? 0 : HistoryRange.IndexOf(name);
        if (range < 0)
        {
            string names = string.Join(", ", HistoryRange.All.Select(each => each.Name));
            return WriteErrorAsync(context, StatusCodes.Status400BadRequest, $"range must be one of {names}");
        }

        string afterText = context.Request.Query["after"].ToString();
        long after = afterText.Length == 0 ? 0 : (long)RequestBody.NumberIn(afterText, "after", long.MaxValue);
        return WriteAsync(context, writer =>
        {
            history.Write(writer, range, after);
            writer.WriteStartObject("now"u8);
            _subject.WriteNow(writer, channel);
            writer.WriteEndObject();
        });
    }

    private Task MemoryAsync(HttpContext context, DashboardUser user) =>
        _store is null ? WriteErrorAsync(context, StatusCodes.Status404NotFound, "there is no store to look at")
        : user.KeyPrefix.Length > 0 ? WriteErrorAsync(context, StatusCodes.Status403Forbidden, NoRights)
        : WriteAsync(context, writer => StoreReport.WriteMemory(writer, _store, context.RequestAborted));

    private Task ViewAsync(HttpContext context, DashboardUser user)
    {
        string name = (string)context.Request.RouteValues["name"]!;
        if (!_subject.ViewsFor(user).Contains(name, StringComparer.Ordinal))
        {
            return WriteErrorAsync(context, StatusCodes.Status403Forbidden, NoRights);
        }

        bool isThere = true;
        return WriteAsync(context, writer => isThere = _subject.TryWriteView(name, writer, user), () => isThere);
    }

    private async Task AnalyzeAsync(HttpContext context, DashboardUser user)
    {
        if (_store is null)
        {
            await WriteErrorAsync(context, StatusCodes.Status404NotFound, "there is no store to look at").ConfigureAwait(false);
            return;
        }

        await _surveys.WaitAsync(context.RequestAborted).ConfigureAwait(false); // Only one runs at a time, because it reads the whole index.
        try
        {
            await WriteAsync(context, writer => StoreReport.WriteAnalysis(writer, _store, user, context.RequestAborted)).ConfigureAwait(false);
        }
        finally
        {
            _surveys.Release();
        }
    }

    private async Task KeysAsync(HttpContext context, DashboardUser user)
    {
        RequestBody body = await RequestBody.ReadAsync(context).ConfigureAwait(false);
        if (await FindCollectionAsync(context, user, body).ConfigureAwait(false) is not var (keys, collection))
        {
            return;
        }

        long position = (long)(body.NumberOf("position", long.MaxValue) ?? 0);
        int count = (int)(body.NumberOf("count", int.MaxValue) ?? DefaultCount);
        string match = body.TextOf("match") ?? "";
        await WriteAsync(context, writer => keys.WriteKeys(writer, user, collection, match, position, count)).ConfigureAwait(false);
    }

    private async Task ValueAsync(HttpContext context, DashboardUser user)
    {
        RequestBody body = await RequestBody.ReadAsync(context).ConfigureAwait(false);
        if (await FindCollectionAsync(context, user, body).ConfigureAwait(false) is not var (keys, collection))
        {
            return;
        }

        byte[] key = body.Key();
        bool isThere = true;
        await WriteAsync(context, writer => isThere = keys.TryWriteValue(writer, user, collection, key), () => isThere).ConfigureAwait(false);
    }

    private async Task DeleteAsync(HttpContext context, DashboardUser user)
    {
        if (!user.MayChange)
        {
            await WriteErrorAsync(context, StatusCodes.Status403Forbidden, "you may not change anything").ConfigureAwait(false);
            return;
        }

        RequestBody body = await RequestBody.ReadAsync(context).ConfigureAwait(false);
        if (await FindCollectionAsync(context, user, body).ConfigureAwait(false) is not var (keys, collection))
        {
            return;
        }

        ulong version = body.NumberOf("version", ulong.MaxValue) ?? 0;
        WriteStatus status = keys.Remove(user, collection, body.Key(), version);
        (int code, string? error) = status switch
        {
            WriteStatus.Stored => (StatusCodes.Status200OK, null),
            WriteStatus.NotFound => (StatusCodes.Status404NotFound, "the key is not there any more"),
            WriteStatus.VersionMismatch => (StatusCodes.Status409Conflict, "the key has been written since; look at it again"),
            _ => (StatusCodes.Status503ServiceUnavailable, "the store could not do it just now; try again"),
        };
        await (error is null ? WriteAsync(context, _ => { }) : WriteErrorAsync(context, code, error)).ConfigureAwait(false);
    }

    private async Task<(KeyBrowser Keys, string Collection)?> FindCollectionAsync(HttpContext context, DashboardUser user, RequestBody body)
    {
        string collection = body.TextOf("collection") ?? "";
        if (_subject.Keys is { } keys && keys.Has(collection, user))
        {
            return (keys, collection);
        }

        await WriteErrorAsync(context, StatusCodes.Status404NotFound, "there is no such collection").ConfigureAwait(false);
        return null;
    }

    // --- Responses ---

    private static void WriteNames(Utf8JsonWriter writer, ReadOnlySpan<byte> property, IReadOnlyList<string> names)
    {
        writer.WriteStartArray(property);
        foreach (string name in names)
        {
            writer.WriteStringValue(name);
        }

        writer.WriteEndArray();
    }

    private static Task WriteErrorAsync(HttpContext context, int status, string error)
    {
        if (context.Response.HasStarted)
        {
            return Task.CompletedTask;
        }

        context.Response.StatusCode = status;
        return WriteAsync(context, writer => writer.WriteString("error"u8, error));
    }

    private static async Task WriteAsync(HttpContext context, Action<Utf8JsonWriter> write, Func<bool>? isThere = null)
    {
        var body = new System.Buffers.ArrayBufferWriter<byte>(4096);
        using (var writer = new Utf8JsonWriter(body))
        {
            writer.WriteStartObject();
            write(writer);
            writer.WriteEndObject();
        }

        if (isThere?.Invoke() == false)
        {
            await WriteErrorAsync(context, StatusCodes.Status404NotFound, "there is nothing of that name").ConfigureAwait(false);
            return;
        }

        context.Response.ContentType = "application/json";
        context.Response.ContentLength = body.WrittenCount;
        await context.Response.Body.WriteAsync(body.WrittenMemory, context.RequestAborted).ConfigureAwait(false);
    }

    // The page uses relative addresses, so its own path must end with a slash.
    private static Task WriteIndexAsync(HttpContext context)
    {
        if (context.Request.Path.Value?.EndsWith('/') == true)
        {
            return WriteAssetAsync(context, AssetTable.All[AssetTable.Index]);
        }

        context.Response.Redirect($"{context.Request.PathBase}{context.Request.Path}/");
        return Task.CompletedTask;
    }

    private static Task WriteAssetAsync(HttpContext context, Asset asset)
    {
        // The browser loads the page each time. It revalidates the other files by their entity tag.
        if (!ReferenceEquals(asset, AssetTable.All[AssetTable.Index]))
        {
            context.Response.Headers.CacheControl = "no-cache";
            context.Response.Headers.ETag = asset.ETag;
        }

        if (context.Request.Headers.IfNoneMatch == asset.ETag)
        {
            context.Response.StatusCode = StatusCodes.Status304NotModified;
            return Task.CompletedTask;
        }

        context.Response.ContentType = asset.ContentType;
        context.Response.ContentLength = asset.Bytes.Length;
        return context.Response.Body.WriteAsync(asset.Bytes, context.RequestAborted).AsTask();
    }
}
