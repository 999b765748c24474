using System.Buffers.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Http;

namespace Cairn.Dashboard.Pages.Web;

// Reads the JSON object in the body of a request. Every mistake of a client is an InvalidRequestException:
//
//   another content type, too long, not JSON, invalid UTF-8, escapes that are not valid text, not an object, a value of another kind
//
// Names and texts are decoded here, so later steps only see valid text. Values that an endpoint does not use must be valid JSON, and are
// not checked otherwise.
internal sealed class RequestBody
{
    /// <summary>The longest body in bytes: a key of 64 KiB in Base64, and some more.</summary>
    public const int MaxBytes = 256 << 10;

    private const int MaxKeyBytes = 64 << 10;

    private readonly Dictionary<string, string?> _members = new(StringComparer.Ordinal); // Null: neither a text nor a number.

    private RequestBody()
    {
    }

    /// <summary>Reads the body to its end.</summary>
    /// <exception cref="InvalidRequestException">The body is not a JSON object.</exception>
    /// <exception cref="BadHttpRequestException">The body is too long.</exception>
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

    /// <summary>Returns a text, or a number in its written form; null if there is no such member.</summary>
    public string? TextOf(string name) =>
        !_members.TryGetValue(name, out string? value) ? null
        : value ?? throw new InvalidRequestException($"'{name}' must be a text or a number");

    /// <summary>Returns a number from 0 up; null if there is no such member.</summary>
    public ulong? NumberOf(string name, ulong most) => TextOf(name) is { } text ? NumberIn(text, name, most) : null;

    /// <summary>Parses a number from 0 up.</summary>
    public static ulong NumberIn(string text, string name, ulong most) =>
        ulong.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out ulong number) && number <= most
            ? number
            : throw new InvalidRequestException($"'{name}' must be a number from 0 to {most}");

    /// <summary>Returns the key in the member <c>id</c>.</summary>
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
            // The exception below reports it.
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

            reader.Read(); // Only white space may follow.
        }
        catch (JsonException)
        {
            throw new InvalidRequestException("the body is not valid JSON");
        }
        catch (InvalidOperationException)
        {
            // The reader throws this exception for invalid Unicode: invalid UTF-8, or half of a surrogate pair.
            throw new InvalidRequestException("the body has text that is not valid Unicode");
        }

        return body;
    }
}
