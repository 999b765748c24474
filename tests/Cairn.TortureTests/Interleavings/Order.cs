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

    /// <summary>Gets how often an actor continues in place of another one.</summary>
    public int Switches => Enumerable.Range(1, Math.Max(0, Actors.Count - 1)).Count(step => Actors[step] != Actors[step - 1]);

    /// <summary>Returns orders in which an actor takes the steps of two of its turns in one. They may not fit if an actor then takes other steps.</summary>
    public IEnumerable<Order> WithFewerSwitches()
    {
        for (int first = 0, next; first < Actors.Count; first = next)
        {
            next = EndOfTurn(first);
            int again = next;
            while (again < Actors.Count && Actors[again] != Actors[first])
            {
                again++;
            }

            if (again < Actors.Count)
            {
                int[] between = [.. Actors.Skip(next).Take(again - next)];
                int[] end = [.. Actors.Skip(EndOfTurn(again))];
                int[] turn = [.. Enumerable.Repeat(Actors[first], next - first + EndOfTurn(again) - again)];
                yield return new Order([.. Actors.Take(first), .. turn, .. between, .. end]);
                yield return new Order([.. Actors.Take(first), .. between, .. turn, .. end]);
            }
        }
    }

    /// <summary>Returns the letter of an actor.</summary>
    public static char NameOf(int actor) => (char)('a' + actor);

    public override string ToString()
    {
        var text = new StringBuilder();
        for (int first = 0, next; first < Actors.Count; first = next)
        {
            next = EndOfTurn(first);
            text.Append(NameOf(Actors[first])).Append(CultureInfo.InvariantCulture, $"{next - first}");
        }

        return text.ToString();
    }

    private int EndOfTurn(int first)
    {
        int end = first;
        while (end < Actors.Count && Actors[end] == Actors[first])
        {
            end++;
        }

        return end;
    }
}
