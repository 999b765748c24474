using System.Buffers.Text;
using System.Globalization;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Http;

namespace Cairn.Dashboard.Pages.Web;

// The JSON object in the body of a request. Everything that a client can get wrong is an InvalidRequestException:
//
//   another content type, too long, no JSON, bytes that are no UTF-8, escapes that are no text, no object, a value of another kind
//
// Names and texts are decoded here once, so that no later step meets text that is none. Values of names that an endpoint does not ask
// for are not looked at, except that they must be JSON.
internal sealed class RequestBody
{
    /// <summary>The longest body: a key of 64 KiB in Base64, and some room.</summary>
    public const int MaxBytes = 256 << 10;

    private const int MaxKeyBytes = 64 << 10;

    private readonly Dictionary<string, string?> _members = new(StringComparer.Ordinal); // Null for what is neither text nor number.

    private RequestBody()
    {
    }

    /// <summary>Reads the body to its end.</summary>
    /// <exception cref="InvalidRequestException">It is not a JSON object.</exception>
    /// <exception cref="BadHttpRequestException">It is too long.</exception>
    public static async Task<RequestBody> ReadAsync(HttpContext context)
    {
        if (context.Request.ContentType?.StartsWith("application/json", StringComparison.OrdinalIgnoreCase) != true)
        {
            throw new InvalidRequestException("the body must have the content type application/json");
        }

        var bytes = new MemoryStream();
        var buffer = new byte[4096];
        int count;
        while ((count = await context.Request.Body.ReadAsync(buffer, context.RequestAborted).ConfigureAwait(false)) > 0)
        {
            if (bytes.Length + count > MaxBytes)
            {
                throw new BadHttpRequestException("too long", StatusCodes.Status413PayloadTooLarge);
            }

            await bytes.WriteAsync(buffer.AsMemory(0, count), context.RequestAborted).ConfigureAwait(false);
        }

        return Parse(bytes.GetBuffer().AsSpan(0, (int)bytes.Length));
    }

    /// <summary>A text, or a number as it is written; null if there is none of that name.</summary>
    public string? TextOf(string name) =>
        !_members.TryGetValue(name, out string? value) ? null
        : value ?? throw new InvalidRequestException($"'{name}' must be a text or a number");

    /// <summary>A number from 0 up; null if there is none of that name.</summary>
    public ulong? NumberOf(string name, ulong most) => TextOf(name) is { } text ? NumberIn(text, name, most) : null;

    /// <summary>A number from 0 up in a text.</summary>
    public static ulong NumberIn(string text, string name, ulong most) =>
        ulong.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out ulong number) && number <= most
            ? number
            : throw new InvalidRequestException($"'{name}' must be a number from 0 to {most}");

    /// <summary>The key that <c>id</c> names.</summary>
    public byte[] Key()
    {
        string id = TextOf("id") ?? throw new InvalidRequestException("'id' is missing: it names the key");
        try
        {
            byte[] key = Base64Url.DecodeFromChars(id);
            if (key.Length is > 0 and <= MaxKeyBytes)
            {
                return key;
            }
        }
        catch (FormatException)
        {
            // Answered below.
        }

        throw new InvalidRequestException($"'id' must be a key of 1 to {MaxKeyBytes} bytes in Base64 for URLs");
    }

    private static RequestBody Parse(ReadOnlySpan<byte> bytes)
    {
        var body = new RequestBody();
        try
        {
            var reader = new Utf8JsonReader(bytes);
            if (!reader.Read() || reader.TokenType != JsonTokenType.StartObject)
            {
                throw new InvalidRequestException("the body must be a JSON object");
            }

            while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
            {
                string name = reader.GetString()!;
                reader.Read();
                body._members[name] = reader.TokenType switch
                {
                    JsonTokenType.String => reader.GetString(),
                    JsonTokenType.Number => Encoding.ASCII.GetString(reader.ValueSpan),
                    _ => null,
                };
                reader.Skip();
            }

            reader.Read(); // Nothing but white space may follow.
        }
        catch (JsonException)
        {
            throw new InvalidRequestException("the body is not valid JSON");
        }
        catch (InvalidOperationException)
        {
            // The reader's word for a text that is no Unicode: bytes that are no UTF-8, or half of a surrogate pair.
            throw new InvalidRequestException("the body has text that is not valid Unicode");
        }

        return body;
    }
}
