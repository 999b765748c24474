using Cairn.DocumentSite;

if (args is not [var root, var output])
{
    Console.Error.WriteLine("usage: docs/site/build [FOLDER]");
    return 2;
}

var site = new Site(root);
site.WriteTo(output);

var broken = LinkCheck.FindBroken(output);
foreach (string link in broken)
{
    Console.Error.WriteLine(link);
}

Console.WriteLine(broken.Count == 0
    ? $"{site.Pages.Count} pages in {output}"
    : $"{broken.Count} links lead nowhere");
return broken.Count == 0 ? 0 : 1;
