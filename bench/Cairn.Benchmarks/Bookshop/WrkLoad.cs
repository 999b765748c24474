using System.ComponentModel;
using System.Diagnostics;
using System.Globalization;
using Cairn.Benchmarks.Server;

namespace Cairn.Benchmarks.Bookshop;

/// <summary>The result of one run of wrk.</summary>
internal sealed record WrkResult(double Requests, double Seconds, double MedianUs, double TailUs)
{
    private const double UsPerSecond = 1e6;

    /// <summary>Parses the line that bench/bookshop/books.lua prints: requests, microseconds, errors, two latencies in microseconds.</summary>
    /// <exception cref="InvalidDataException">The output has no such line, or a request failed.</exception>
    public static WrkResult Parse(string output)
    {
        var line = output.Split('\n').FirstOrDefault(line => line.StartsWith("result ", StringComparison.Ordinal));
        var numbers = (line ?? string.Empty).Split(' ', StringSplitOptions.RemoveEmptyEntries).Skip(1)
            .Select(text => double.Parse(text, CultureInfo.InvariantCulture)).ToArray();
        return numbers switch
        {
            [_, var us, 0, var median, var tail] => new WrkResult(numbers[0], us / UsPerSecond, median, tail),
            [_, _, > 0, ..] => throw new InvalidDataException($"{numbers[2]} requests failed."),
            _ => throw new InvalidDataException($"wrk printed no result: {output.Trim()}"),
        };
    }
}

/// <summary>Loads an API with wrk from the other core.</summary>
internal sealed class WrkLoad(string script, int books, double seconds, bool isRealTime)
{
    private const int Connections = 50;

    public static bool IsInstalled()
    {
        try
        {
            using var process = Process.Start(new ProcessStartInfo("wrk", ["--version"]) { RedirectStandardOutput = true, RedirectStandardError = true, UseShellExecute = false })!;
            process.StandardOutput.ReadToEnd();
            process.WaitForExit();
            return true;
        }
        catch (Win32Exception)
        {
            return false;
        }
    }

    /// <summary>Requests books, or the constant answer if there is no path to books.</summary>
    /// <param name="shop">The API under load.</param>
    /// <param name="database">The database, which works at the same time.</param>
    /// <param name="path">The part of the URL before a book's id; <see langword="null"/> to request the constant answer.</param>
    /// <param name="skip">The number of books to skip at the start. Every run requests the same books in the same order.</param>
    /// <param name="mayBeRealTime">Whether this run is measured, so that it may have real-time priority.</param>
    public WrkResult Run(ShopProcess shop, ShopDatabase database, string? path, int skip, bool mayBeRealTime)
    {
        // wrk counts in whole seconds. A shorter span is only for a first look, and one second serves as well.
        var span = Text((int)Math.Max(1, Math.Round(seconds)));
        string[] wrk = ["wrk", "-t1", "-c" + Text(Connections), $"-d{span}s", "-s", script, shop.Address.ToString(), "--"];
        string[] what = path is null ? ["/api/constant"] : [path, Text(books), Text(skip)];
        if (!isRealTime || !mayBeRealTime)
        {
            return WrkResult.Parse(Output(["taskset", "-c", Text(LoadGenerator.Core), .. wrk, .. what]));
        }

        var served = (int[])[shop.Id, .. database.ProcessIds()];
        ShopPriority.Raise(served);
        try
        {
            return WrkResult.Parse(Output(["chrt", "-f", ShopPriority.RealTime, "taskset", "-c", Text(LoadGenerator.Core), .. wrk, .. what]));
        }
        finally
        {
            ShopPriority.Restore(served);
        }
    }

    private static string Output(string[] command)
    {
        using var process = Process.Start(
            new ProcessStartInfo(command[0], command[1..]) { RedirectStandardOutput = true, UseShellExecute = false })!;
        var output = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        return output;
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}
