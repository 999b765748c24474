using System.Globalization;
using System.Text;

namespace Cairn.TortureTests.Interleavings;

/// <summary>The actor that takes each step of a schedule, from the first step to the last.</summary>
/// <remarks>As text, "a3b12a1" is three steps of the first actor, twelve of the second, and one more of the first.</remarks>
internal sealed record Order(IReadOnlyList<int> Actors)
{
    public static Order Parse(string text)
    {
        var actors = new List<int>();
        for (int at = 0; at < text.Length;)
        {
            int actor = text[at++] - 'a';
            int digits = text.AsSpan(at).IndexOfAnyExceptInRange('0', '9') is var end and >= 0 ? end : text.Length - at;
            if (actor is < 0 or > 25
                || !int.TryParse(text.AsSpan(at, digits), NumberStyles.None, CultureInfo.InvariantCulture, out int steps))
            {
                throw new FormatException($"'{text}' is no order of steps, such as a3b12a1.");
            }

            actors.AddRange(Enumerable.Repeat(actor, steps));
            at += digits;
        }

        return new Order(actors);
    }

    /// <summary>Returns the letter of an actor.</summary>
    public static char NameOf(int actor) => (char)('a' + actor);

    public override string ToString()
    {
        var text = new StringBuilder();
        for (int first = 0, next; first < Actors.Count; first = next)
        {
            next = first;
            while (next < Actors.Count && Actors[next] == Actors[first])
            {
                next++;
            }

            text.Append(NameOf(Actors[first])).Append(CultureInfo.InvariantCulture, $"{next - first}");
        }

        return text.ToString();
    }
}
