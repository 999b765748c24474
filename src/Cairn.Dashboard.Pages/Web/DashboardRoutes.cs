// What can be asked for, and what everything that is asked for has to pass:
//
//   refused?  ->  host known?  ->  page or file
//                              ->  api: who is it?  ->  a change: from a page of ours, with its token?  ->  what they may do
//
// Nothing that is answered depends on a cookie alone but figures and lists of keys, which other sites cannot read.
using System.Buffers.Text;
using System.Globalization;
using System.Text;
using System.Text.Json;
using Cairn.Dashboard.Pages.Access;
using Cairn.Dashboard.Pages.Keys;
using Cairn.Dashboard.Pages.Reports;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Net.Http.Headers;

namespace Cairn.Dashboard.Pages.Web;

#pragma warning disable CA1001 // Semaphores hold nothing but memory as long as nobody asks for their handles, and requests may be under way to the end.
internal sealed class DashboardRoutes
#pragma warning restore CA1001
{
    /// <summary>The header that carries the anti-forgery token.</summary>
    public const string TokenHeader = "X-Cairn-Token";

    /// <summary>The longest body of a request: a key of 64 KiB in Base64, and some room.</summary>
    public const int MaxBodyBytes = 256 << 10;

    private const int DefaultCount = 100;
    private const string NoRights = "you may not see this";

    // Scripts, styles and pictures come from here only, and nothing may put text into the page as markup.
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
    /// <param name="routes">Where to; paths are relative to it.</param>
    /// <param name="subject">What is shown.</param>
    /// <param name="access">To whom.</param>
    /// <param name="store">The store whose memory and entries can be looked at; null if there is none.</param>
    public static void Map(IEndpointRouteBuilder routes, IDashboardSubject subject, IDashboardAccess access, CairnStore? store)
    {
        var pages = new DashboardRoutes(subject, access, store);
        pages.Add(routes, "/", s_get, WriteIndexAsync);
        foreach ((string path, Asset asset) in AssetTable.All)
        {
            pages.Add(routes, $"/{path}", s_get, context => WriteAssetAsync(context, asset));
        }

        pages.Add(routes, "/api/session", s_get, pages.SessionAsync);
        pages.Add(routes, "/api/login", s_post, pages.LoginAsync);
        pages.Add(routes, "/api/logout", s_post, pages.LogoutAsync);
        pages.AddApi(routes, "/api/live", s_get, pages.LiveAsync);
        pages.AddApi(routes, "/api/memory", s_get, pages.MemoryAsync);
        pages.AddApi(routes, "/api/view/{name}", s_get, pages.ViewAsync);
        pages.AddApi(routes, "/api/survey", s_post, pages.SurveyAsync);
        pages.AddApi(routes, "/api/keys", s_post, pages.KeysAsync);
        pages.AddApi(routes, "/api/value", s_post, pages.ValueAsync);
        pages.AddApi(routes, "/api/delete", s_post, pages.DeleteAsync);
    }

    // --- What everything passes ---

    private void Add(IEndpointRouteBuilder routes, string path, string[] methods, RequestDelegate handler) =>
        routes.MapMethods(path, methods, context => GuardAsync(context, handler));

    private void AddApi(IEndpointRouteBuilder routes, string path, string[] methods, Func<HttpContext, DashboardUser, Task> handler) =>
        Add(routes, path, methods, context => IdentifyAsync(context, handler));

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
                "this name does not lead to this server; use its address, or localhost, or tell the server the name").ConfigureAwait(false);
            return;
        }

        try
        {
            await handler(context).ConfigureAwait(false);
        }
        catch (Exception e) when (e is JsonException or FormatException)
        {
            await WriteErrorAsync(context, StatusCodes.Status400BadRequest, "the request is not as the reference has it").ConfigureAwait(false);
        }
        catch (BadHttpRequestException e) when (e.StatusCode == StatusCodes.Status413PayloadTooLarge)
        {
            await WriteErrorAsync(context, StatusCodes.Status413PayloadTooLarge, "the request is too long").ConfigureAwait(false);
        }
        catch (OperationCanceledException) when (context.RequestAborted.IsCancellationRequested)
        {
            // Nobody waits for the answer.
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
    }

    private async Task IdentifyAsync(HttpContext context, Func<HttpContext, DashboardUser, Task> handler)
    {
        DashboardUser? user = _sessions.Find(SessionOf(context));
        bool isByCookie = true;
        if (user is null && BasicOf(context) is var (name, password))
        {
            user = await AuthenticateAsync(name, password, context.RequestAborted).ConfigureAwait(false);
            isByCookie = false; // No browser sends this by itself: it is not asked for.
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

        if (isByCookie && HttpMethods.IsPost(context.Request.Method) && !IsFromOurPage(context, HeldSession(context)))
        {
            await WriteErrorAsync(context, StatusCodes.Status403Forbidden, $"the header {TokenHeader} must have the token of the session").ConfigureAwait(false);
            return;
        }

        await handler(context, user).ConfigureAwait(false);
    }

    private bool IsFromOurPage(HttpContext context, string? session)
    {
        string? site = context.Request.Headers["Sec-Fetch-Site"];
        string? origin = context.Request.Headers.Origin;
        return site is null or "same-origin"
            && (origin is null || (Uri.TryCreate(origin, UriKind.Absolute, out Uri? uri) && uri.Authority.Equals(AuthorityOf(context), StringComparison.OrdinalIgnoreCase)))
            && _sessions.IsToken(session, context.Request.Headers[TokenHeader]);
    }

    private static string AuthorityOf(HttpContext context) =>
        new Uri($"{context.Request.Scheme}://{context.Request.Host}").Authority;

    // --- Who it is ---

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
        if (!IsFromOurPage(context, HeldSession(context)))
        {
            await WriteErrorAsync(context, StatusCodes.Status403Forbidden, $"the header {TokenHeader} must have the token of the session").ConfigureAwait(false);
            return;
        }

        using JsonDocument body = await ReadAsync(context).ConfigureAwait(false);
        DashboardUser? user = await AuthenticateAsync(
            TextOf(body, "user") ?? "", TextOf(body, "password") ?? "", context.RequestAborted).ConfigureAwait(false);
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
        if (!IsFromOurPage(context, HeldSession(context)))
        {
            await WriteErrorAsync(context, StatusCodes.Status403Forbidden, $"the header {TokenHeader} must have the token of the session").ConfigureAwait(false);
            return;
        }

        _sessions.End(SessionOf(context));
        context.Response.Cookies.Delete(CookieOf(context));
        await WriteAsync(context, _ => { }).ConfigureAwait(false);
    }

    // Passwords are checked by a slow hash: two at a time, and after a wrong one a while later, so that trying costs the server little.
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

    // Cookies know no ports: each server of a machine has a name of its own.
    private static string CookieOf(HttpContext context) => string.Create(CultureInfo.InvariantCulture, $"cairn-{context.Request.Host.Port ?? 0}");

    private static string? SessionOf(HttpContext context) => context.Request.Cookies[CookieOf(context)];

    // Null also for a cookie whose session has ended.
    private string? HeldSession(HttpContext context) => SessionOf(context) is { } id && _sessions.Find(id) is not null ? id : null;

    private static (string Name, string Password)? BasicOf(HttpContext context)
    {
        const string Scheme = "Basic ";
        string? header = context.Request.Headers.Authorization;
        if (header?.StartsWith(Scheme, StringComparison.OrdinalIgnoreCase) != true)
        {
            return null;
        }

        string[] parts = Encoding.UTF8.GetString(Convert.FromBase64String(header[Scheme.Length..])).Split(':', 2);
        return (parts[0], parts.Length > 1 ? parts[1] : "");
    }

    // --- What is asked for ---

    private Task LiveAsync(HttpContext context, DashboardUser user)
    {
        string channel = context.Request.Query["channel"].ToString();
        if (_subject.HistoryOf(channel) is not { } history)
        {
            return WriteErrorAsync(context, StatusCodes.Status404NotFound, "there is no such cache");
        }

        long after = long.TryParse(context.Request.Query["after"], NumberStyles.None, CultureInfo.InvariantCulture, out long number) ? number : 0;
        return WriteAsync(context, writer =>
        {
            history.Write(writer, after);
            writer.WriteStartObject("now"u8);
            _subject.WriteNow(writer, channel);
            writer.WriteEndObject();
        });
    }

    private Task MemoryAsync(HttpContext context, DashboardUser user) =>
        _store is null ? WriteErrorAsync(context, StatusCodes.Status404NotFound, "there is no store to look at")
        : user.KeyPrefix.Length > 0 ? WriteErrorAsync(context, StatusCodes.Status403Forbidden, NoRights)
        : WriteAsync(context, writer => StoreReport.WriteMemory(writer, _store));

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

    private async Task SurveyAsync(HttpContext context, DashboardUser user)
    {
        if (_store is null)
        {
            await WriteErrorAsync(context, StatusCodes.Status404NotFound, "there is no store to look at").ConfigureAwait(false);
            return;
        }

        await _surveys.WaitAsync(context.RequestAborted).ConfigureAwait(false); // One at a time: it reads the whole index.
        try
        {
            await WriteAsync(context, writer => StoreReport.WriteSurvey(writer, _store, user, context.RequestAborted)).ConfigureAwait(false);
        }
        finally
        {
            _surveys.Release();
        }
    }

    private async Task KeysAsync(HttpContext context, DashboardUser user)
    {
        using JsonDocument body = await ReadAsync(context).ConfigureAwait(false);
        if (await FindCollectionAsync(context, user, body).ConfigureAwait(false) is not var (keys, collection))
        {
            return;
        }

        long position = long.TryParse(TextOf(body, "position"), NumberStyles.None, CultureInfo.InvariantCulture, out long number) ? number : 0;
        int count = int.TryParse(TextOf(body, "count"), NumberStyles.None, CultureInfo.InvariantCulture, out int wanted) ? wanted : DefaultCount;
        string match = TextOf(body, "match") ?? "";
        await WriteAsync(context, writer => keys.WriteKeys(writer, user, collection, match, position, count)).ConfigureAwait(false);
    }

    private async Task ValueAsync(HttpContext context, DashboardUser user)
    {
        using JsonDocument body = await ReadAsync(context).ConfigureAwait(false);
        if (await FindCollectionAsync(context, user, body).ConfigureAwait(false) is not var (keys, collection))
        {
            return;
        }

        byte[] key = KeyOf(body);
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

        using JsonDocument body = await ReadAsync(context).ConfigureAwait(false);
        if (await FindCollectionAsync(context, user, body).ConfigureAwait(false) is not var (keys, collection))
        {
            return;
        }

        ulong version = ulong.TryParse(TextOf(body, "version"), NumberStyles.None, CultureInfo.InvariantCulture, out ulong number) ? number : 0;
        WriteStatus status = keys.Remove(user, collection, KeyOf(body), version);
        (int code, string? error) = status switch
        {
            WriteStatus.Stored => (StatusCodes.Status200OK, null),
            WriteStatus.NotFound => (StatusCodes.Status404NotFound, "the key is not there any more"),
            WriteStatus.VersionMismatch => (StatusCodes.Status409Conflict, "the key has been written since; look at it again"),
            _ => (StatusCodes.Status503ServiceUnavailable, "the store could not do it just now; try again"),
        };
        await (error is null ? WriteAsync(context, _ => { }) : WriteErrorAsync(context, code, error)).ConfigureAwait(false);
    }

    private async Task<(KeyBrowser Keys, string Collection)?> FindCollectionAsync(HttpContext context, DashboardUser user, JsonDocument body)
    {
        string collection = TextOf(body, "collection") ?? "";
        if (_subject.Keys is { } keys && keys.Has(collection, user))
        {
            return (keys, collection);
        }

        await WriteErrorAsync(context, StatusCodes.Status404NotFound, "there is no such collection").ConfigureAwait(false);
        return null;
    }

    // --- Reading and writing ---

    private static byte[] KeyOf(JsonDocument body)
    {
        byte[] key = Base64Url.DecodeFromChars(TextOf(body, "id") ?? throw new JsonException());
        return key.Length is > 0 and <= 64 << 10 ? key : throw new JsonException();
    }

    private static string? TextOf(JsonDocument body, string name) =>
        !body.RootElement.TryGetProperty(name, out JsonElement value) ? null
        : value.ValueKind == JsonValueKind.String ? value.GetString()
        : value.ValueKind == JsonValueKind.Number ? value.GetRawText()
        : throw new JsonException();

    private static async Task<JsonDocument> ReadAsync(HttpContext context)
    {
        if (context.Request.ContentType?.StartsWith("application/json", StringComparison.OrdinalIgnoreCase) != true)
        {
            throw new JsonException();
        }

        var body = new MemoryStream();
        var buffer = new byte[4096];
        int count;
        while ((count = await context.Request.Body.ReadAsync(buffer, context.RequestAborted).ConfigureAwait(false)) > 0)
        {
            if (body.Length + count > MaxBodyBytes)
            {
                throw new BadHttpRequestException("too long", StatusCodes.Status413PayloadTooLarge);
            }

            await body.WriteAsync(buffer.AsMemory(0, count), context.RequestAborted).ConfigureAwait(false);
        }

        JsonDocument document = JsonDocument.Parse(body.GetBuffer().AsMemory(0, (int)body.Length));
        if (document.RootElement.ValueKind != JsonValueKind.Object)
        {
            document.Dispose();
            throw new JsonException();
        }

        return document;
    }

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

    // What the page asks for is named relative to it, so its own name must end with a slash.
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
        // The page is asked for each time; what it asks for in turn is compared.
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
