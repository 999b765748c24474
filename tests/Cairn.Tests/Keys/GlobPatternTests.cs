using System.Text;
using System.Text.RegularExpressions;
using Cairn.Keys;

namespace Cairn.Tests.Keys;

/// <summary>Patterns with wildcards.</summary>
public sealed class GlobPatternTests
{
    [Theory]
    [InlineData("", "", true)]
    [InlineData("", "a", false)]
    [InlineData("a", "", false)]
    [InlineData("*", "", true)]
    [InlineData("*", "anything", true)]
    [InlineData("**", "x", true)]
    [InlineData("?", "", false)]
    [InlineData("?", "x", true)]
    [InlineData("?", "xy", false)]
    [InlineData("a*c", "ac", true)]
    [InlineData("a*c", "abbbc", true)]
    [InlineData("a*c", "abbbcd", false)]
    [InlineData("a*b*c", "a1b2b3c", true)]
    [InlineData("*ab", "aab", true)]
    [InlineData("*aab", "aaab", true)]
    [InlineData("[abc]", "b", true)]
    [InlineData("[abc]", "d", false)]
    [InlineData("[a-c]", "b", true)]
    [InlineData("[c-a]", "b", true)]
    [InlineData("[a-c]", "-", false)]
    [InlineData("[a-]", "-", false)] // A range from a to the bracket, without an end of the set.
    [InlineData("[a-]x", "^", true)]
    [InlineData("[k-]*", "h", true)]
    [InlineData("[a-", "-", true)]
    [InlineData("[-a]", "-", true)]
    [InlineData("[^a-c]", "d", true)]
    [InlineData("[^a-c]", "b", false)]
    [InlineData("[^a-c]", "", false)]
    [InlineData("[\\]]", "]", true)]
    [InlineData("[\\a-\\c]", "b", false)] // An escaped byte begins no range.
    [InlineData("[\\a-\\c]", "-", true)]
    [InlineData("[\\a-z]", "k", false)]
    [InlineData("[\\a-z]", "-", true)]
    [InlineData("[a-\\z]", "k", false)]
    [InlineData("[a-\\z]", "z", true)]
    [InlineData("[]", "a", false)]
    [InlineData("[^]", "a", true)]
    [InlineData("[a", "a", true)]
    [InlineData("[a", "b", false)]
    [InlineData("[", "[", false)]
    [InlineData("\\*", "*", true)]
    [InlineData("\\*", "x", false)]
    [InlineData("\\", "\\", true)]
    [InlineData("a\\", "a\\", true)]
    [InlineData("x*[0-9]?z", "xyy7!z", true)]
    public void Pattern_matches_what_it_describes(string pattern, string text, bool isMatch)
    {
        Assert.Equal(isMatch, GlobPattern.IsMatch(Encoding.UTF8.GetBytes(pattern), Encoding.UTF8.GetBytes(text)));
    }

    [Fact]
    public void Random_patterns_match_what_the_same_regular_expression_matches()
    {
        var random = new Random(2024);
        for (int i = 0; i < 20_000; i++)
        {
            string pattern = string.Concat(Enumerable.Range(0, random.Next(8)).Select(_ => random.Next(6) switch
            {
                0 => "*",
                1 => "?",
                2 => random.Next(2) == 0 ? "[ab]" : "[^b]",
                _ => $"{(char)('a' + random.Next(3))}",
            }));
            string text = string.Concat(Enumerable.Range(0, random.Next(10)).Select(_ => (char)('a' + random.Next(3))));
            string expression = $"^{pattern.Replace("*", ".*", StringComparison.Ordinal).Replace("?", ".", StringComparison.Ordinal)}$";

            bool expected = Regex.IsMatch(text, expression, RegexOptions.ExplicitCapture);

            Assert.True(
                expected == GlobPattern.IsMatch(Encoding.UTF8.GetBytes(pattern), Encoding.UTF8.GetBytes(text)),
                $"'{pattern}' on '{text}'");
        }
    }

    [Fact]
    public void Random_bytes_as_pattern_and_text_are_handled()
    {
        var random = new Random(7);
        byte[] alphabet = [.. "*?[]^-\\ab"u8, 0, 255];
        int matches = 0;
        for (int i = 0; i < 50_000; i++)
        {
            byte[] pattern = random.GetItems(alphabet, random.Next(10));
            byte[] text = random.GetItems(alphabet, random.Next(10));
            matches += GlobPattern.IsMatch(pattern, text) ? 1 : 0;
        }

        Assert.InRange(matches, 1, 49_999);
    }

    [Fact]
    public void One_pass_matches_what_retrying_matches()
    {
        var random = new Random(11);
        byte[] alphabet = [.. "*?[]^-\\abab"u8, 0, 255];
        int matches = 0;
        for (int i = 0; i < 20_000; i++)
        {
            byte[] pattern = random.GetItems(alphabet, random.Next(i % 100 == 0 ? GlobAutomaton.LongestPattern + 1 : 8));
            byte[] text = random.GetItems(alphabet, random.Next(12));

            bool expected = GlobPattern.IsMatch([(byte)'*', .. pattern], text);

            Assert.True(expected == GlobAutomaton.IsMatch(pattern, text), $"'{Encoding.Latin1.GetString(pattern)}' on '{Encoding.Latin1.GetString(text)}'");
            matches += expected ? 1 : 0;
        }

        Assert.InRange(matches, 100, 19_900);
    }

    [Theory]
    [InlineData(2)]
    [InlineData(63)]
    [InlineData(64)]
    [InlineData(65)]
    [InlineData(255)]
    [InlineData(256)]
    [InlineData(300)]
    public void Text_that_nearly_matches_everywhere_is_matched_right(int elements)
    {
        byte[] pattern = Encoding.UTF8.GetBytes($"x*{new string('a', elements - 1)}b");
        string text = "x" + new string('a', 65_000);

        Assert.False(GlobPattern.IsMatch(pattern, Encoding.UTF8.GetBytes(text)));
        Assert.True(GlobPattern.IsMatch(pattern, Encoding.UTF8.GetBytes(text + "b")));
        Assert.False(GlobPattern.IsMatch(pattern, Encoding.UTF8.GetBytes(text + "bb")));
        Assert.True(GlobPattern.IsMatch([.. pattern, (byte)'*'], Encoding.UTF8.GetBytes(text + "bb")));
    }

    [Fact]
    public void Many_stars_take_no_longer_than_pattern_times_text()
    {
        byte[] pattern = Encoding.UTF8.GetBytes(string.Concat(Enumerable.Repeat("*a", 30)) + "*b");
        byte[] text = Encoding.UTF8.GetBytes(new string('a', 60_000));

        Assert.False(GlobPattern.IsMatch(pattern, text));
    }
}
